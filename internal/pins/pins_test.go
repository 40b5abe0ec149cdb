package pins

import (
	"fmt"
	"os"
	"runtime"
	"testing"
)

// TestOtherResultsFail runs tests that pass or fail by the file: with the same parts, with another
// part, with a part more, and without a line. Without a file every test passes.
func TestOtherResultsFail(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("nothing is compared")
	}
	t.Chdir(t.TempDir())
	passes := func(name string, parts map[string][]byte) bool {
		return testing.RunTests(func(_, _ string) (bool, error) { return true, nil },
			[]testing.InternalTest{{Name: name, F: func(t *testing.T) { Check(t, parts) }}})
	}
	one := map[string][]byte{"a": []byte("x"), "b": nil}
	other := map[string][]byte{"a": []byte("y"), "b": nil}
	if !passes("Other", other) {
		t.Error("a test fails in a package without the file")
	}
	line := "Same b=e3b0c442 a=2d711642\nOther b=e3b0c442 a=2d711642\n"
	if err := os.Mkdir("testdata", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("testdata/pins.txt", []byte(line), 0o666); err != nil {
		t.Fatal(err)
	}
	more := map[string][]byte{"a": []byte("x"), "b": nil, "c": nil}
	for i, c := range []struct {
		name  string
		parts map[string][]byte
		want  bool
	}{{"Same", one, true}, {"Other", other, false}, {"Same", more, false}, {"Sam", one, false}} {
		if got := passes(c.name, c.parts); got != c.want {
			t.Errorf("%s: passes is %t, want %t", fmt.Sprint(c.name, i), got, c.want)
		}
	}
}
