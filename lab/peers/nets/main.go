// Command nets trains five networks like those of Opacus's examples, on request. peers.py does the
// same with PyTorch and Opacus; see README.md.
//
//	nets FOLDER NETWORK
//
// FOLDER has the files of data.py. The program reads commands from standard input, one on each
// line, and answers each with one line:
//
//	train SEED   trains a network and answers "ACCURACY EPSILON"
//	run S        takes steps for S seconds and answers "EXAMPLES SECONDS"
package main

import (
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
)

// settings are what both programs have in common.
type settings struct {
	Dim, Classes      int
	Train, Batch      int
	Epochs            int
	Optimizer         string
	Rate, Clip, Noise float64
	Most              float64 // largest coordinate
}

//go:embed settings.json
var settingsFile []byte

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: nets FOLDER NETWORK")
	}
	if err := serve(os.Args[1], os.Args[2], os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func serve(folder, name string, r io.Reader, w io.Writer) error {
	var all map[string]settings
	if err := json.Unmarshal(settingsFile, &all); err != nil {
		return err
	}
	s, ok := all[name]
	if !ok {
		return fmt.Errorf("unknown network %q", name)
	}
	data, err := read(filepath.Join(folder, name), s)
	if err != nil {
		return err
	}
	e := &example{settings: s, compute: networks[name], data: data}
	for {
		var command string
		var amount float64
		_, err := fmt.Fscanln(r, &command, &amount)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case command == "train":
			err = e.train(w, uint64(amount))
		default:
			err = e.run(w, amount)
		}
		if err != nil {
			return err
		}
	}
}

// data are records with labels. The first are for training, the others for testing.
type data struct {
	x []float32
	y []int32
}

func read(path string, s settings) (*data, error) {
	x, err := numbers[float32](path + ".x")
	if err != nil {
		return nil, err
	}
	y, err := numbers[int32](path + ".y")
	if err == nil && (len(x) != len(y)*s.Dim || len(y) <= s.Train) {
		err = fmt.Errorf("%s: the numbers of records and coordinates are not those of settings.json", path)
	}
	return &data{x, y}, err
}

func numbers[T float32 | int32](path string) ([]T, error) {
	raw, err := os.ReadFile(path)
	list := make([]T, len(raw)/4)
	if err == nil {
		_, err = binary.Decode(raw, binary.LittleEndian, list)
	}
	return list, err
}
