package draft

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// clocks are the layouts of times of day, those with more zeros first.
var clocks = []string{"15:04", "15:04:05", "03:04 PM", "3:04 PM", "03:04:05 PM", "3:04:05 PM",
	"03:04 pm", "3:04 pm", "03:04PM", "3:04PM", "03:04pm", "3:04pm"}

// A clockForm reads one layout of times of day.
type clockForm struct{ dateForm }

func (f *clockForm) read(text string) bool {
	if len(text) < len("3:04") || text[1] != ':' && text[2] != ':' || nearLength(f.layout, text) {
		return false
	}
	at, err := time.Parse(f.layout, text)
	if err == nil {
		f.count(text)
		f.put(at)
	}
	return err == nil
}

// column returns the column of a whole day, and says in r what it is.
func (f *clockForm) column(name string, r *Recognised) records.Column {
	if f.most > 0 && f.least == f.most { // no text has more of them
		f.step = max(f.step, time.Second/time.Duration(math.Pow10(f.most)))
	} else if strings.Contains(f.layout, "05") {
		f.step = min(f.step, time.Second)
	} else {
		f.step = time.Minute
	}
	r.As = fmt.Sprintf("times of day of the form %s, in whole steps of %v", f.layout, f.step)
	if f.layout == clocks[0] {
		r.Or = "minutes and seconds: no text tells them apart"
	}
	return records.Duration(name, 0, day-f.step, f.step).WithFormat(f.form())
}
