package records

// validJSON reports whether a text is valid JSON. Unlike json.Valid, it allocates no error for an
// invalid text.
func validJSON(text []byte) bool {
	end := jsonValue(text, skipBlank(text, 0), 0)
	return end > 0 && skipBlank(text, end) == len(text)
}

const maxJSONDepth = 10_000

// Each of the following functions returns the end of the part of a value that begins at the given
// index, or -1 if there is none.

func jsonValue(text []byte, at, depth int) int {
	if at >= len(text) || depth > maxJSONDepth {
		return -1
	}
	switch c := text[at]; {
	case c == '{':
		return jsonList(text, at, depth, '}')
	case c == '[':
		return jsonList(text, at, depth, ']')
	case c == '"':
		return jsonString(text, at)
	case c == 't':
		return jsonWord(text, at, "true")
	case c == 'f':
		return jsonWord(text, at, "false")
	case c == 'n':
		return jsonWord(text, at, "null")
	}
	return jsonNumber(text, at)
}

// jsonList reads an object or an array.
func jsonList(text []byte, at, depth int, closing byte) int {
	at = skipBlank(text, at+1)
	if depth < maxJSONDepth && at < len(text) && text[at] == closing {
		return at + 1
	}
	for at < len(text) {
		if closing == '}' {
			if at = skipBlank(text, jsonString(text, at)); at < 0 || at >= len(text) || text[at] != ':' {
				return -1
			}
			at = skipBlank(text, at+1)
		}
		if at = jsonValue(text, at, depth+1); at < 0 {
			return -1
		}
		if at = skipBlank(text, at); at < len(text) && text[at] == closing {
			return at + 1
		}
		if at >= len(text) || text[at] != ',' {
			return -1
		}
		at = skipBlank(text, at+1)
	}
	return -1
}

func jsonString(text []byte, at int) int {
	if text[at] != '"' {
		return -1
	}
	for at++; at < len(text); at++ {
		switch c := text[at]; {
		case c == '"':
			return at + 1
		case c < ' ':
			return -1
		case c == '\\':
			if at = jsonEscape(text, at+1); at < 0 {
				return -1
			}
		}
	}
	return -1
}

// jsonEscape reads an escape after its backslash and returns the index of the last character.
func jsonEscape(text []byte, at int) int {
	if at >= len(text) {
		return -1
	}
	switch text[at] {
	case 'b', 'f', 'n', 'r', 't', '\\', '/', '"':
		return at
	case 'u':
		for i := at + 1; i <= at+4; i++ {
			if i >= len(text) || !isHex(text[i]) {
				return -1
			}
		}
		return at + 4
	}
	return -1
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func jsonWord(text []byte, at int, word string) int {
	if end := at + len(word); end <= len(text) && string(text[at:end]) == word {
		return end
	}
	return -1
}

func jsonNumber(text []byte, at int) int {
	if text[at] == '-' {
		at++
	}
	end := digitsEnd(text, at)
	if end == at || text[at] == '0' && end > at+1 {
		return -1
	}
	if at = end; at < len(text) && text[at] == '.' {
		if end = digitsEnd(text, at+1); end == at+1 {
			return -1
		}
		at = end
	}
	if at < len(text) && text[at]|0x20 == 'e' {
		if at++; at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		if end = digitsEnd(text, at); end == at {
			return -1
		}
		at = end
	}
	return at
}

func digitsEnd(text []byte, at int) int {
	for at < len(text) && text[at] >= '0' && text[at] <= '9' {
		at++
	}
	return at
}
