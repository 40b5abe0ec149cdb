package main

import (
	"os"
	"strconv"
)

func micro() int { n, _ := strconv.Atoi(os.Getenv("MICRO")); return n }
