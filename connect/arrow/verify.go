package arrow

import "encoding/binary"

// verify returns an error if a list in a message's description states more entries than fit into
// the bytes, since arrow-go allocates memory for the stated number. Each visit to a table is
// counted, which limits how often a table may be shared. Like the code that it protects, verify
// panics if an offset points outside the description.
//
// Source: Arrow's format/Message.fbs and Schema.fbs; flatbuffers' "Internals".
func verify(description []byte) error {
	d := flat{bytes: description, tables: len(description) / 8}
	message := d.root()
	d.lists(message, offsetBytes, 4)
	header := d.child(message, 2)
	switch kind := d.byte(message, 1); {
	case header == 0:
	case kind == 1: // a schema
		d.lists(header, offsetBytes, 1, 2)
		d.lists(header, 8, 3)
		d.fields(header, 1)
	case kind == 2: // a dictionary
		d.batch(d.child(header, 1))
	case kind == 3:
		d.batch(header)
	}
	if d.wrong || d.tables < 0 {
		return errDamaged
	}
	return nil
}

// offsetBytes is the size of an entry that is an offset.
const offsetBytes = 4

// flat is a flatbuffer. A table is identified by its position; 0 means no table.
type flat struct {
	bytes  []byte
	tables int // how many more tables may be visited
	wrong  bool
}

func (d *flat) word(at int) int { return int(binary.LittleEndian.Uint32(d.bytes[at:])) }

func (d *flat) root() int {
	d.tables--
	return d.word(0)
}

// slot returns the position of an entry of a table, or 0 if the table does not have it.
func (d *flat) slot(table, entry int) int {
	layout := table - int(int32(d.word(table)))
	if at := 4 + 2*entry; at < int(binary.LittleEndian.Uint16(d.bytes[layout:])) {
		if offset := int(binary.LittleEndian.Uint16(d.bytes[layout+at:])); offset != 0 {
			return table + offset
		}
	}
	return 0
}

func (d *flat) byte(table, entry int) byte {
	if at := d.slot(table, entry); at != 0 {
		return d.bytes[at]
	}
	return 0
}

// child returns the table that an entry points to.
func (d *flat) child(table, entry int) int {
	at := d.slot(table, entry)
	if at == 0 {
		return 0
	}
	d.tables--
	return at + d.word(at)
}

// list returns the position and the length of a list whose entries have the given size.
func (d *flat) list(table, entry, size int) (start, length int) {
	at := d.slot(table, entry)
	if at == 0 {
		return 0, 0
	}
	start = at + d.word(at)
	length = d.word(start)
	start += 4
	if length > (len(d.bytes)-start)/size {
		d.wrong = true
		return 0, 0
	}
	return start, length
}

func (d *flat) lists(table, size int, entries ...int) {
	for _, entry := range entries {
		d.list(table, entry, size)
	}
}

// fields checks a list of columns and, recursively, their child columns.
func (d *flat) fields(table, entry int) {
	start, length := d.list(table, entry, offsetBytes)
	for i := range length {
		if d.tables--; d.tables < 0 || d.wrong {
			return
		}
		at := start + offsetBytes*i
		field := at + d.word(at)
		d.lists(field, offsetBytes, 6)
		if kind := d.child(field, 3); kind != 0 && d.byte(field, 2) == 14 { // a union's numbers
			d.lists(kind, 4, 1)
		}
		d.fields(field, 5)
	}
}

// batch checks the lists of a batch: its columns, their buffers, and the counts of variadic
// buffers, each of which is at most the number of buffers.
func (d *flat) batch(table int) {
	if table == 0 {
		return
	}
	d.lists(table, 16, 1)
	_, buffers := d.list(table, 2, 16)
	start, n := d.list(table, 4, 8)
	for i := range n {
		if binary.LittleEndian.Uint64(d.bytes[start+8*i:]) > uint64(buffers) {
			d.wrong = true
		}
	}
}
