package sgd

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/strictjson"
	"github.com/seed7ba64551/privgen/mechanism"
)

// noRows is an empty batch.
var noRows device.Batch

// task is a piece of a step: rows of the sample whose clipped gradients a worker sums. It is
// private, since the sample is private.
type task struct {
	Run     string
	Step    int
	Piece   int
	Of      int
	Setting [sha256.Size]byte
	Params  []float32 `json:"-"` // released
	Rows    []int32   `json:"-"`
	Keys    []uint64  `json:"-"`

	room int // least number of rows that a task has room for; a public number
}

// leastRoom is the room of a task, in rows, if the configuration has no NominalBatch. The room is
// doubled until the rows fit.
const leastRoom = 1024

// roomOf returns the room of tasks, a public number of rows, if a sample is divided into this
// number of pieces. A sample whose mean size is NominalBatch exceeds the mean by eight standard
// deviations and sixteen rows once in 10^12 steps.
func (c Config) roomOf(pieces int) int {
	if c.NominalBatch == 0 {
		return leastRoom
	}
	most := c.NominalBatch + 8*math.Sqrt(c.NominalBatch) + 16
	return int(math.Ceil(min(most, 1<<30)/float64(pieces))) + 1
}

// padded returns the room of a task with this number of rows.
func padded(rows, room int) int {
	room = max(room, 1)
	for room < rows {
		room *= 2
	}
	return room
}

// name returns the name of the piece as a shard of package partial.
func (t task) name() string { return fmt.Sprintf("piece %d of %d", t.Piece, t.Of) }

const taskAbout = "privgen task 2"

// headSize is the length to which the head is padded.
const headSize = 1024

// taskHead is the head of a task in JSON. The numbers follow it, with the least significant byte
// first, and zeros up to the task's room.
type taskHead struct {
	task
	Params, Rows int
}

// seal encrypts the task for workers. The result has one of a few lengths, which follow from public
// numbers.
func (t task) seal(k mechanism.Key) ([]byte, error) {
	head, err := json.Marshal(taskHead{t, len(t.Params), len(t.Rows)})
	if err != nil {
		return nil, err
	}
	head = append(head, bytes.Repeat([]byte{' '}, max(headSize-len(head), 0))...)
	size := 4 + len(head) + 4*len(t.Params) + 12*padded(len(t.Rows), t.room)
	out := binary.LittleEndian.AppendUint32(make([]byte, 0, size), uint32(len(head)))
	out = append(out, head...)
	for _, x := range t.Params {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	for _, row := range t.Rows {
		out = binary.LittleEndian.AppendUint32(out, uint32(row))
	}
	for _, key := range t.Keys {
		out = binary.LittleEndian.AppendUint64(out, key)
	}
	out = out[:size]
	defer clear(out)
	return k.SealBytes([]byte(taskAbout), out)
}

// openTask reads a task that seal wrote. Only holders of the key can have written it.
func openTask(k mechanism.Key, sealed []byte) (t task, err error) {
	text, err := k.OpenBytes([]byte(taskAbout), sealed)
	if err != nil {
		return t, err
	}
	defer clear(text)
	var head taskHead
	if len(text) < 4 || uint64(binary.LittleEndian.Uint32(text)) > uint64(len(text)-4) {
		return t, mechanism.ErrSealed
	}
	n := int(binary.LittleEndian.Uint32(text))
	if strictjson.Decode(text[4:4+n], &head) != nil {
		return t, mechanism.ErrSealed
	}
	text = text[4+n:]
	if head.Params < 0 || head.Rows < 0 || head.Params > len(text)/4 || head.Rows > len(text)/12 ||
		4*head.Params+12*head.Rows > len(text) {
		return t, mechanism.ErrSealed
	}
	t = head.task
	t.Params, t.Rows = make([]float32, head.Params), make([]int32, head.Rows)
	t.Keys = make([]uint64, head.Rows)
	for i := range t.Params {
		t.Params[i] = math.Float32frombits(binary.LittleEndian.Uint32(text[4*i:]))
	}
	text = text[4*head.Params:]
	for i := range t.Rows {
		t.Rows[i] = int32(binary.LittleEndian.Uint32(text[4*i:]))
	}
	text = text[4*head.Rows:]
	for i := range t.Keys {
		t.Keys[i] = binary.LittleEndian.Uint64(text[8*i:])
	}
	return t, nil
}
