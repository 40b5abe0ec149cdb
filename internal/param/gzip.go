package param

// GzipHead is the length of the fixed part of a gzip header.
const GzipHead = 10

// PackedByGzip recognises the fixed part of a gzip header (RFC 1952, section 2.3.1): the magic
// number, the only compression method, no reserved flag, and one of the known extra flags. The
// magic number alone is not enough: a first record that begins with its two bytes would change how
// all others are read.
func PackedByGzip(head []byte) bool {
	return len(head) >= GzipHead && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8 &&
		head[3]&0xe0 == 0 && (head[8] == 0 || head[8] == 2 || head[8] == 4)
}
