// Command site makes a static documentation site of the repository's pages: navigation, search and
// formulas, without a network and without a server.
//
//	go -C docs/site run . -o ../../out/site
//
// Then open out/site/index.html in a browser.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", filepath.Join("..", ".."), "folder of the repository")
	out := flag.String("o", filepath.Join("..", "..", "out", "site"), "folder of the site")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "site: unexpected argument %q: want flags only\n", flag.Arg(0))
		os.Exit(2)
	}
	n, err := Build(*root, *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("%d pages: open %s\n", n, filepath.Join(*out, "index.html"))
}
