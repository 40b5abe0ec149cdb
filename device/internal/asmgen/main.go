// Asmgen writes the assembly of packages device, mechanism/internal/sampler, internal/entropy and
// internal/graphical.
// It is a separate module, so users of the library do not download the dependencies of the
// generator.
//
// Run it with go generate in the folder of the package whose assembly it writes.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	part := flag.String("part", "", "file to write: gemm, pack, thin, outer, vector, image, noise, aes, tables or neon")
	from := flag.String("from", "", "assembly file for amd64 that -part neon translates")
	parts := map[string]func(){
		"gemm": gemm, "pack": pack, "vector": vector, "thin": thin, "outer": outer, "noise": noise,
		"aes": aes, "image": image, "tables": tables,
	}
	if flag.Parse(); *part == "neon" { // avo supports amd64 only; its flags are used all the same
		named := func(name string) string { return flag.Lookup(name).Value.String() }
		if err := neon(*from, named("out"), named("stubs"), named("pkg")); err != nil {
			fmt.Fprintln(os.Stderr, "asmgen:", err)
			os.Exit(1)
		}
		return
	}
	write, ok := parts[*part]
	if !ok {
		fmt.Fprintf(os.Stderr, "asmgen: unknown -part %q: see -help\n", *part)
		os.Exit(2)
	}
	ConstraintExpr("!purego")
	write()
	Generate()
}
