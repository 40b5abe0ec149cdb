// Command pins writes what seeded runs result in now into testdata/pins.txt of the packages whose
// tests compare it (see internal/pins). Run it after a change of bits on purpose.
//
//	go -C lab run ./pins             every package that has the file
//	go -C lab run ./pins mix sgd     these packages, which may be without it yet
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pins:", err)
		os.Exit(1)
	}
}

func run(packages []string) error {
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	if len(packages) == 0 {
		for _, pattern := range []string{"*", "internal/*"} {
			found, err := filepath.Glob(filepath.Join(root, pattern, "testdata", "pins.txt"))
			if err != nil {
				return err
			}
			for _, file := range found {
				name, err := filepath.Rel(root, filepath.Dir(filepath.Dir(file)))
				if err != nil {
					return err
				}
				packages = append(packages, name)
			}
		}
	}
	if len(packages) == 0 {
		return errors.New("no package: run it with go -C lab run ./pins")
	}
	for _, name := range packages {
		err = errors.Join(err, write(filepath.Join(root, name)))
	}
	return err
}

// pin is a line that internal/pins logs.
var pin = regexp.MustCompile(`(?m) pin: (\S+(?: \S+=[0-9a-f]{8})+)$`)

// write runs the tests with pins of the package in a folder, which fail if their pins have changed,
// writes its file, and runs the tests again.
func write(folder string) error {
	output, failed := tested(folder)
	var lines []string
	for _, m := range pin.FindAllSubmatch(output, -1) {
		lines = append(lines, string(m[1])+"\n")
	}
	if slices.Sort(lines); len(lines) == 0 {
		return fmt.Errorf("%s: no test has a pin: %w\n%s", folder, failed, output)
	}
	path := filepath.Join(folder, "testdata", "pins.txt")
	old, _ := os.ReadFile(path) // there may be none yet
	changed := 0
	for _, line := range lines {
		if !strings.Contains(string(old), line) {
			changed++
		}
	}
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777),
		os.WriteFile(path, []byte(strings.Join(slices.Compact(lines), "")), 0o666))
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d pins, of which %d have changed or are new\n", folder, len(lines), changed)
	if output, err := tested(folder); err != nil {
		return fmt.Errorf("%s: its tests still fail: %w\n%s", folder, err, output)
	}
	return nil
}

// tested runs the tests, and those under -long where the package has this flag.
func tested(folder string) (output []byte, err error) {
	for _, flag := range []string{"-long", "-test.v"} {
		test := exec.Command("go", "test", "-count=1", "-v", "-run", "Pins|System|Contract", ".",
			"-args", flag)
		test.Dir = folder
		output, err = test.CombinedOutput()
		if !strings.Contains(string(output), "not defined: -long") {
			break
		}
	}
	return output, err
}
