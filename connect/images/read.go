package images

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// ReadFolder reads records from a folder of PNG and JPEG files, such as os.DirFS(path).
//
// If the schema has classes, the folder holds one subfolder for each class, with the class's name;
// otherwise the files lie in the folder itself. Every file is one record. Files are read in the
// order of classes, then of names. Files that do not end in .png, .jpg or .jpeg, and other
// subfolders, are ignored.
//
// If the schema is of colour images, grey files have three equal colours. If the schema is of grey
// images, colours become their luma (ITU-R BT.601). If the schema is of binary images, a luma of
// one half or more is 1. Transparent pixels are drawn on black. The orientation stored by a camera
// is not applied, and images are not scaled: scale them beforehand.
//
// Every file is read separately. A file that is damaged, too long, or an image of another size
// becomes a record of zeros. So no file affects how other files are read. [CheckFolder] lists these
// files. A file of more than Limits.LineBytes bytes is too long. A limit of 0 means 1 MiB, plus 16
// bytes for each coordinate of a record.
//
// Errors: [records.ErrFormat] if a class has no folder; *[records.LimitError] if the records hold
// too many values for the files' size; *[param.Error] for a schema that is not of images, or if
// the name of a class cannot be the name of a folder; errors of the file system.
func ReadFolder(folder fs.FS, s records.Schema, limits ...records.Limits) (*records.Table, error) {
	var levels []uint8
	var labels []int32
	err := eachImageFile(folder, s, lastOf(limits), func(f imageFile) error {
		levels = append(levels, f.levels...)
		if s.Classes() > 0 {
			labels = append(labels, int32(f.class))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return records.FromBytes(s, levels, labels...)
}

// CheckFolder reports the files of a folder that ReadFolder reads as zeros. It lists the first ten,
// each by its class and its number within the class, both counted from 0. It also states the number
// of all such files. The report is as private as the records.
//
// Errors: [records.ErrFormat] if there are such files; see also [ReadFolder].
func CheckFolder(folder fs.FS, s records.Schema, limits ...records.Limits) error {
	const most = 10
	var names []string
	total, number, class := 0, 0, -1
	err := eachImageFile(folder, s, lastOf(limits), func(f imageFile) error {
		if f.class != class {
			number, class = 0, f.class
		}
		if f.odd != "" {
			if total++; total <= most {
				names = append(names, fmt.Sprintf("file %d of class %d: %s", number, f.class, f.odd))
			}
		}
		number++
		return nil
	})
	if err != nil || total == 0 {
		return err
	}
	return malformed("%d of the files cannot be read: %s", total, strings.Join(names, "; "))
}

// imageFile is one file as a record.
type imageFile struct {
	class  int
	levels []uint8 // valid until the next file is read
	odd    string  // why the levels are zeros, or ""
}

// eachImageFile reads all files of a folder.
func eachImageFile(folder fs.FS, s records.Schema, limits records.Limits,
	f func(imageFile) error) error {
	if err := checkFolder("images.ReadFolder", folder, s, limits); err != nil {
		return err
	}
	names := s.ClassNames()
	if len(names) == 0 {
		names = []string{"."}
	}
	in := folderInput{folder: folder, schema: s, limits: limits}
	for class, name := range names {
		entries, err := fs.ReadDir(folder, name)
		if err != nil {
			return missingFolder(name, err)
		}
		for _, e := range entries {
			if e.IsDir() || !isImageName(e.Name()) {
				continue
			}
			levels, odd, err := in.read(path.Join(name, e.Name()))
			if err != nil {
				return err
			}
			if err := f(imageFile{class, levels, odd}); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkFolder(path string, folder fs.FS, s records.Schema, limits records.Limits) error {
	if err := s.Validate(); err != nil {
		return err
	}
	var c param.Checker
	c.Add(limits.Validate())
	c.OK(folder != nil, path+".folder", nil, "a folder, such as os.DirFS")
	c.OK(s.IsImage(), path+".schema", s.String(), "images")
	for _, name := range s.ClassNames() {
		c.OK(isFolderName(name), path+" classes", fmt.Sprintf("%.40q", name),
			"a name that a folder can have on every system")
	}
	return c.Err()
}

// isFolderName reports whether a folder can have this name on every system.
func isFolderName(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.ContainsAny(name, "/\\:\x00")
}

func missingFolder(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return malformed("there is no folder %.40q", name)
	}
	return fmt.Errorf("images: %w", err)
}

// isImageName reports whether a file has the extension of an image.
func isImageName(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".png", ".jpg", ".jpeg":
		return true
	}
	return false
}

// folderInput is a folder being read.
type folderInput struct {
	folder fs.FS
	schema records.Schema
	limits records.Limits
	file   bytes.Buffer
	bytes  int64 // of all files so far
	values int64
	levels []uint8
}

// read returns the record of one file, or zeros and the reason in odd. It returns errors of the
// file system, and a LimitError if the files so far hold too many values.
func (in *folderInput) read(name string) (levels []uint8, odd string, err error) {
	in.levels = append(in.levels[:0], make([]uint8, in.schema.Dim())...)
	text, odd, err := in.open(name)
	if err != nil {
		return nil, "", err
	}
	in.bytes += int64(len(text))
	in.values += int64(in.schema.Dim()+3) / 4 // four bytes count as one value
	if in.values > in.limits.ValuesFor(in.bytes) {
		return nil, "", &records.LimitError{Limit: "Values",
			What: "the folder holds more values than the size of its files allows"}
	}
	if odd != "" {
		return in.levels, odd, nil
	}
	picture, odd := decodeImage(text, in.schema)
	if odd != "" {
		return in.levels, odd, nil
	}
	fillLevels(in.levels, picture, in.schema)
	return in.levels, "", nil
}

// open reads a file up to the limit on its length.
func (in *folderInput) open(name string) (text []byte, odd string, err error) {
	most := int64(in.limits.LineBytes)
	if most == 0 {
		most = 1<<20 + 16*int64(in.schema.Dim())
	}
	f, err := in.folder.Open(name)
	if err != nil {
		return nil, "", fmt.Errorf("images: %w", err)
	}
	defer f.Close()
	in.file.Reset()
	if _, err := in.file.ReadFrom(io.LimitReader(f, most+1)); err != nil {
		return nil, "", fmt.Errorf("images: %w", err)
	}
	if int64(in.file.Len()) > most {
		return in.file.Bytes()[:most], "the file is too long", nil
	}
	return in.file.Bytes(), "", nil
}

// imageFormat is a decoder and the bytes that its files begin with.
type imageFormat struct {
	magic  string
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

const jpegMagic = "\xff\xd8"

var imageFormats = []imageFormat{{"\x89PNG\r\n\x1a\n", png.DecodeConfig, png.Decode},
	{jpegMagic, jpeg.DecodeConfig, jpeg.Decode}}

// Each scan of a progressive JPEG file takes the time of the whole image, and 12 bytes of the file.
// Encoders write about ten scans. The marker cannot occur in the pixels of a JPEG file.
const mostScans = 100

var scanMarker = []byte("\xff\xda")

// decodeImage reads an image of the schema's size. The size is checked before the pixels are
// decoded.
func decodeImage(text []byte, s records.Schema) (picture image.Image, odd string) {
	const damaged = "not a valid PNG or JPEG file"
	for _, f := range imageFormats {
		if !bytes.HasPrefix(text, []byte(f.magic)) {
			continue
		}
		config, err := f.config(bytes.NewReader(text))
		if err != nil {
			return nil, damaged
		}
		if config.Width != s.Width() || config.Height != s.Height() {
			return nil, fmt.Sprintf("an image that is not %d×%d", s.Height(), s.Width())
		}
		if f.magic == jpegMagic && bytes.Count(text, scanMarker) > mostScans {
			return nil, "a JPEG file of too many scans"
		}
		picture, err := f.decode(bytes.NewReader(text))
		if err != nil || picture.Bounds().Dx() != s.Width() || picture.Bounds().Dy() != s.Height() {
			return nil, damaged
		}
		return picture, ""
	}
	return nil, damaged
}

// fillLevels sets levels to the pixels of an image.
func fillLevels(levels []uint8, picture image.Image, s records.Schema) {
	corner, at := picture.Bounds().Min, 0
	for y := range s.Height() {
		for x := range s.Width() {
			p := picture.At(corner.X+x, corner.Y+y)
			if s.Channels() == 1 {
				levels[at] = color.GrayModel.Convert(p).(color.Gray).Y
				at++
				continue
			}
			r, g, b, _ := p.RGBA()
			levels[at], levels[at+1], levels[at+2] = levelOf16(r), levelOf16(g), levelOf16(b)
			at += 3
		}
	}
}

// levelOf16 rounds a number of 16 bits to 8 bits.
func levelOf16(v uint32) uint8 { return uint8((v*255 + 0x7fff) / 0xffff) }

// malformed returns a records.ErrFormat with a description of the mistake. The description must
// name a place, never a value.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", records.ErrFormat, fmt.Sprintf(format, args...))
}

// lastOf returns the last of the limits that were given.
func lastOf(given []records.Limits) (l records.Limits) {
	if len(given) > 0 {
		l = given[len(given)-1]
	}
	return l
}
