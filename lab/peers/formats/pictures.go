package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen/connect/images"
	"github.com/seed7ba64551/privgen/records"
)

// pictureSchema returns a schema of small images in colour; CIFAR's images have sides of 32 pixels.
func pictureSchema() records.Schema { return records.RGBImage(5, 7).WithLabels("cat", "a dog") }

// writePictures writes images in every file format.
func writePictures(folder string) error {
	small, err := madeUpImages(pictureSchema(), 4)
	if err != nil {
		return err
	}
	if err := images.WriteFolder(filepath.Join(folder, "pictures"), small); err != nil {
		return err
	}
	large, err := madeUpImages(images.CIFAR10Schema(), 3)
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(folder, "cifar.bin"))
	if err != nil {
		return err
	}
	defer file.Close()
	return images.WriteCIFAR(file, large)
}

// madeUpImages returns images with every level.
func madeUpImages(s records.Schema, n int) (*records.Table, error) {
	levels, labels := make([]uint8, n*s.Dim()), make([]int32, n)
	for i := range levels {
		levels[i] = uint8(i * 7)
	}
	for i := range labels {
		labels[i] = int32(i * (s.Classes() - 1) / (n - 1))
	}
	return records.FromBytes(s, levels, labels...)
}

// showPictures prints the class and the levels of each image of a folder or of a CIFAR file.
func showPictures(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	var t *records.Table
	if info.IsDir() {
		if err := images.CheckFolder(os.DirFS(path), pictureSchema()); err != nil {
			return err
		}
		t, err = images.ReadFolder(os.DirFS(path), pictureSchema())
	} else {
		t, err = images.OpenCIFAR(images.CIFAR10Schema(), []string{path})
	}
	if err != nil {
		return err
	}
	var row []float32
	for i := range t.Len() {
		row = t.Row(row, i)
		line := []int{t.Label(i)}
		for _, v := range row {
			line = append(line, int(v*255+0.5))
		}
		fmt.Println(line)
	}
	return nil
}
