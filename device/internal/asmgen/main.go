// Asmgen writes the assembly of packages device, mechanism/internal/sampler and internal/entropy.
// It is a separate module, so that users of the library do not download the packages that generate
// assembly.
//
// Run it with go generate in the folder of the package.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	part := flag.String("part", "", "which file to write: gemm, pack, thin, vector, image, noise, aes or neon")
	from := flag.String("from", "", "for the part neon: the assembly file for amd64 to translate")
	parts := map[string]func(){
		"gemm": gemm, "pack": pack, "vector": vector, "thin": thin, "noise": noise,
		"aes": aes, "image": image,
	}
	if flag.Parse(); *part == "neon" { // avo supports amd64 only, but defines the flags
		named := func(name string) string { return flag.Lookup(name).Value.String() }
		if err := neon(*from, named("out"), named("stubs"), named("pkg")); err != nil {
			fmt.Fprintln(os.Stderr, "asmgen:", err)
			os.Exit(1)
		}
		return
	}
	write, ok := parts[*part]
	if !ok {
		fmt.Fprintf(os.Stderr, "asmgen: unknown -part %q, see -help\n", *part)
		os.Exit(2)
	}
	ConstraintExpr("!purego")
	write()
	Generate()
}
