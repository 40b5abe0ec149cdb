// Asmgen writes the assembly of packages device, mechanism/internal/sampler and internal/entropy.
// It is a module of its own so that users of the library never download the assembler generator.
//
// Run it by go generate in the folder of the package.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	part := flag.String("part", "", "which file to write: gemm, pack, thin, vector, image, noise, aes or neon")
	from := flag.String("from", "", "neon: the assembly of amd64 to translate")
	parts := map[string]func(){
		"gemm": gemm, "pack": pack, "vector": vector, "thin": thin, "noise": noise,
		"aes": aes, "image": image,
	}
	if flag.Parse(); *part == "neon" { // avo knows no other processor, but has the flags
		named := func(name string) string { return flag.Lookup(name).Value.String() }
		if err := neon(*from, named("out"), named("stubs"), named("pkg")); err != nil {
			fmt.Fprintln(os.Stderr, "asmgen:", err)
			os.Exit(1)
		}
		return
	}
	write, ok := parts[*part]
	if !ok {
		fmt.Fprintf(os.Stderr, "asmgen: no part %q\n", *part)
		os.Exit(2)
	}
	ConstraintExpr("!purego")
	write()
	Generate()
}
