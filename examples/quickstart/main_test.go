package main

import (
	"io"
	"os"
	"testing"
)

// TestOutput compares the program's output with output.txt, which the README quotes.
func TestOutput(t *testing.T) {
	want, err := os.ReadFile("output.txt")
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = write
	main()
	os.Stdout = stdout
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(read)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the program prints\n%s\noutput.txt has\n%s", got, want)
	}
}
