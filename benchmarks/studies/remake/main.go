// Command remake runs the commands on a page of docs/studies, or on docs/defaults.md, and keeps
// their output.
//
//	go run ./benchmarks/studies/remake -list                     the commands of all pages
//	go run ./benchmarks/studies/remake -data FOLDER gan mixtures run the commands of two pages
//
// Run it in the root of the repository. If a word of a command is the name of a file anywhere under
// -data, the path of that file replaces the word. PAGE-n.txt gets the n-th command of a page and
// its output. Private noise has no seed, so new figures differ from the page's figures within their
// deviations.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/seed7ba64551/privgen/internal/examples/program"
)

func main() { program.Main("remake", run) }

func run(ctx context.Context, args []string) error {
	f := program.NewFlags("remake")
	list := f.Bool("list", false, "print the commands and run none")
	data := f.String("data", "", "folder of the data files")
	out := f.String("out", "out/remake", "folder for the outputs")
	if err := f.Parse(args); err != nil {
		return err
	}
	commands, err := find(".", f.Args())
	if err != nil {
		return err
	}
	if *list {
		for _, c := range commands {
			fmt.Printf("%s: %v\n", c.page, c)
		}
		return nil
	}
	if f.NArg() == 0 {
		return errors.New("got no arguments: want the names of pages, such as gan, or -list")
	}
	files, err := filesOf(*data)
	if err != nil {
		return err
	}
	number := map[string]int{}
	for _, c := range commands {
		number[c.page]++
		path := filepath.Join(*out, fmt.Sprintf("%s-%d.txt", c.page, number[c.page]))
		fmt.Printf("%s: %v\n", path, c)
		if err := c.run(ctx, path, files); err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
	}
	return nil
}

// find returns the commands of the named pages, or of all pages.
func find(root string, pages []string) ([]command, error) {
	paths, err := filepath.Glob(filepath.Join(root, "docs", "studies", "*.md"))
	if err != nil {
		return nil, err
	}
	paths = append(paths, filepath.Join(root, "docs", "defaults.md"))
	var out []command
	for _, path := range paths {
		found, err := commandsOf(path)
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			if len(pages) == 0 || slices.Contains(pages, c.page) {
				out = append(out, c)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%q: no commands: want names of pages of docs/studies, or defaults", pages)
	}
	return out, nil
}

// filesOf returns the paths of all files under a folder by their names.
func filesOf(folder string) (map[string]string, error) {
	files := map[string]string{}
	if folder == "" {
		return files, nil
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files[e.Name()] = path
		}
		return err
	})
	return files, err
}

// run runs the command and writes it and its output to a file.
func (c command) run(ctx context.Context, path string, files map[string]string) error {
	args := slices.Clone(c.args)
	for i, word := range args {
		if file, ok := files[word]; ok {
			args[i] = file
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return program.Save(path, func(w io.Writer) error {
		fmt.Fprintf(w, "$ %v\n", c)
		p := exec.CommandContext(ctx, args[0], args[1:]...)
		p.Dir, p.Stdout, p.Stderr = c.dir, w, os.Stderr
		return p.Run()
	})
}
