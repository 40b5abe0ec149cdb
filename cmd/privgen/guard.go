package main

import (
	"strconv"
	"strings"
)

// Spreadsheet programs take a text that begins with one of these signs for a formula, which can
// call other programs. A guard before the text prevents it.
const (
	formulaSigns = "=+-@\t\r"
	guardSign    = "'"
)

// guarded returns a text that no spreadsheet program takes for a formula. Numbers need no guard. A
// text that looks guarded gets a further guard, so that [unguarded] returns every text.
func guarded(text string) string {
	if startsFormula(strings.TrimLeft(text, guardSign)) {
		return guardSign + text
	}
	return text
}

// unguarded returns the text without its guard.
func unguarded(text string) string {
	rest, found := strings.CutPrefix(text, guardSign)
	if found && startsFormula(strings.TrimLeft(rest, guardSign)) {
		return rest
	}
	return text
}

func startsFormula(text string) bool {
	if text == "" || !strings.Contains(formulaSigns, text[:1]) {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err != nil || strings.Trim(text, "0123456789.eE+-") != "" // as +Inf
}
