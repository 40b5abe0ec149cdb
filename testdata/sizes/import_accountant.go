package main

import _ "github.com/seed7ba64551/privgen/accountant"

func main() {}
