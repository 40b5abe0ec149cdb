// Asmgen writes the assembly of packages device and mechanism/internal/sampler. It is a module of
// its own so that users of the library never download the assembler generator.
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
	part := flag.String("part", "", "which file to write: gemm, pack, thin, vector or noise")
	parts := map[string]func(){
		"gemm": gemm, "pack": pack, "vector": vector, "thin": thin, "noise": noise,
	}
	flag.Parse()
	write, ok := parts[*part]
	if !ok {
		fmt.Fprintf(os.Stderr, "asmgen: no part %q\n", *part)
		os.Exit(2)
	}
	ConstraintExpr("!purego")
	write()
	Generate()
}
