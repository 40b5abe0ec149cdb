package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// harness is a page that loads the report in a frame and measures it from outside, since the report
// itself has no script.
const harness = `<!DOCTYPE html><html><head><link rel="icon" href="data:,"></head><body style="margin:0"><pre id="out"></pre>
<iframe id="page" style="border:0;width:%dpx;height:900px" src="page.html"></iframe>
<script>
document.getElementById("page").addEventListener("load", function () {
  const frame = document.getElementById("page"), d = frame.contentDocument, w = frame.contentWindow;
  const out = {width: d.documentElement.scrollWidth, view: w.innerWidth, figures: {},
    cut: [], small: [],
    requests: w.performance.getEntriesByType("resource").map(e => e.name)
      .filter(n => !n.startsWith("data:")),
    back: w.getComputedStyle(d.body).backgroundColor};
  d.querySelectorAll("figure").forEach(f => {
    const picture = f.querySelector("svg, img"), box = picture.getBoundingClientRect();
    out.figures[f.id] = [box.left, box.width, box.height, picture.complete === false ? 0 : 1];
    if (picture.tagName.toLowerCase() !== "svg") return;
    picture.querySelectorAll("text").forEach(e => {
      const t = e.getBoundingClientRect();
      if (t.width === 0) return;
      if (t.left < box.left - 1 || t.right > box.right + 1 || t.top < box.top - 1 ||
          t.bottom > box.bottom + 1)
        out.cut.push(f.id + ": " + e.textContent);
      const size = parseFloat(w.getComputedStyle(e).fontSize) * box.width /
        picture.viewBox.baseVal.width;
      if (size < 11) out.small.push(f.id + ": " + e.textContent + " " + size);
    });
  });
  document.getElementById("out").textContent = JSON.stringify(out);
});
</script></body></html>`

// seen holds the harness's measurements.
type seen struct {
	Width, View float64
	Figures     map[string][4]float64 // left, width, height, whether an image was read
	Cut, Small  []string
	Requests    []string
	Back        string
}

// browser returns the path of Chromium, as Debian's package chromium installs it. Without Chromium
// it skips the test.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium: apt-get install chromium")
	return ""
}

// look shows a page in a browser.
func look(t *testing.T, path, page string, width int, dark bool) (seen, string) {
	t.Helper()
	var (
		lock  sync.Mutex
		asked []string
	)
	files := map[string]string{"/page.html": page, "/harness.html": fmt.Sprintf(harness, width)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, known := files[r.URL.Path]
		if !known {
			lock.Lock()
			asked = append(asked, r.URL.Path)
			lock.Unlock()
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, text)
	}))
	defer server.Close()
	args := []string{"--headless=new", "--no-sandbox", "--disable-gpu",
		"--user-data-dir=" + t.TempDir(), "--enable-logging=stderr",
		"--virtual-time-budget=20000", "--window-size=1400,1000", "--dump-dom"}
	if dark {
		args = append(args, "--blink-settings=preferredColorScheme=0")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(args, server.URL+"/harness.html")...)
	var log strings.Builder
	cmd.Stderr = &log
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, log.String())
	}
	found := regexp.MustCompile(`(?s)<pre id="out">(.*?)</pre>`).FindSubmatch(dom)
	var s seen
	if found == nil || json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &s) != nil {
		t.Fatalf("the browser says %.500s", dom)
	}
	lock.Lock()
	defer lock.Unlock()
	s.Requests = append(s.Requests, asked...)
	return s, log.String()
}

// TestPagesInABrowser shows the pages in Chromium, at the width of a phone and of a desktop, in
// light and dark colours. It checks that every figure is there and inside the page, and that every
// label is whole and large enough. The page must load no other file, and the console must have no
// messages.
func TestPagesInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser twelve times")
	}
	path := browser(t)
	for name, of := range made() {
		page := pageOf(t, of(t))
		for _, width := range []int{400, 1280} {
			dark := width == 400
			s, log := look(t, path, page, width, dark)
			what := fmt.Sprintf("%s at %d", name, width)
			if s.Width > s.View || s.View != float64(width) {
				t.Errorf("%s: the page is %v wide, the window %v", what, s.Width, s.View)
			}
			for _, id := range figures[name] {
				box := s.Figures[id]
				if box[0] < 0 || box[1] < 200 || box[2] < 20 || box[0]+box[1] > float64(width) || box[3] != 1 {
					t.Errorf("%s: figure %s lies at %v", what, id, box)
				}
			}
			if len(s.Cut) > 0 || len(s.Small) > 0 || len(s.Requests) > 0 {
				t.Errorf("%s: cut %q, small %q, requests %q", what, s.Cut, s.Small, s.Requests)
			}
			if strings.Contains(log, "CONSOLE") {
				t.Errorf("%s: the console says %s", what, log)
			}
			if want := map[bool]string{false: "rgb(255, 255, 255)", true: "rgb(20, 23, 26)"}[dark]; s.Back !=
				want {
				t.Errorf("%s: the background is %s", what, s.Back)
			}
		}
	}
}

// TestTheBrowserSeesFaults checks that the harness finds the faults of a faulty page.
func TestTheBrowserSeesFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	path := browser(t)
	bad := `<!DOCTYPE html><html><body><figure id="f" style="width:900px"><svg viewBox="0 0 900 50"
		style="width:300px"><text x="880" y="20" style="font-size:12px">too far to the right</text></svg>
		</figure><img src="elsewhere.png"><img src="http://elsewhere.invalid/x.png">
		<script>console.error("spoken")</script></body></html>`
	s, log := look(t, path, bad, 400, false)
	if s.Width <= s.View || len(s.Cut) == 0 || len(s.Small) == 0 || len(s.Requests) < 2 ||
		!strings.Contains(log, "CONSOLE") {
		t.Errorf("%+v, %s", s, log)
	}
}
