package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7ba64551/privgen/connect/onnx/weights"
	"github.com/seed7ba64551/privgen/device"
)

// network returns the parameters that every program reads.
func network() device.Params {
	p := device.NewParams(device.CPU(), device.Shape{Name: "0.weight", Rows: 3, Cols: 2},
		device.Shape{Name: "0.bias", Rows: 1, Cols: 2})
	for i := range p.Flat.Data {
		p.Flat.Data[i] = float32(math.Exp(float64(3*i - 10)))
	}
	return p
}

func writeWeights(folder string) error {
	p := network()
	for name, write := range map[string]func(f *os.File) error{
		"net.safetensors": func(f *os.File) error { return weights.WriteSafetensors(f, device.CPU(), p) },
		"net.npz":         func(f *os.File) error { return weights.WriteNPZ(f, device.CPU(), p) },
	} {
		f, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		if err := write(f); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

func showWeights(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	p := network()
	clear(p.Flat.Data)
	if strings.HasSuffix(path, ".npz") {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		err = weights.ReadNPZ(f, info.Size(), device.CPU(), p)
		if err != nil {
			return err
		}
	} else if err := weights.ReadSafetensors(f, device.CPU(), p); err != nil {
		return err
	}
	fmt.Println(p.Flat.Data)
	return nil
}
