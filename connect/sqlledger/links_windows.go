package sqlledger

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// links returns the number of names of a file.
func links(path string, _ fs.FileInfo) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	var d syscall.ByHandleFileInformation
	err = syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &d)
	return uint64(d.NumberOfLinks), errors.Join(err, f.Close())
}
