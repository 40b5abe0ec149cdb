package main

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// harness reads the site from disk in a frame, types a query, and follows the first result.
const harness = `<!DOCTYPE html><html><head><link rel="icon" href="data:,"></head>
<body style="margin:0"><pre id="out"></pre>
<iframe id="page" style="border:0;width:%dpx;height:900px" src="docs/design.html"></iframe>
<script>
const frame = document.getElementById("page"), out = {};
frame.addEventListener("load", function () {
  const d = frame.contentDocument, w = frame.contentWindow;
  if (out.results === undefined) {
    out.width = d.documentElement.scrollWidth; out.view = w.innerWidth;
    out.back = w.getComputedStyle(d.body).backgroundColor;
    out.formulas = Array.from(d.querySelectorAll("math"))
      .map(m => m.getBoundingClientRect().height);
    out.navigation = d.querySelectorAll("nav details a").length;
    out.open = Array.from(d.querySelectorAll("nav a[aria-current]")).map(a => a.textContent);
    const input = d.getElementById("query");
    input.value = "%s";
    input.dispatchEvent(new w.Event("input"));
    const links = d.querySelectorAll("#results a");
    out.results = Array.from(links).map(a => a.textContent);
    out.requests = w.performance.getEntriesByType("resource").map(e => e.name);
    if (links.length > 0) links[0].click();
    setTimeout(arrive, 2000); // virtual time: a section of the same page loads nothing
  }
});
function arrive() {
  const d = frame.contentDocument, w = frame.contentWindow;
  out.arrived = w.location.pathname.split("/").pop() + w.location.hash;
  out.there = d.getElementById(decodeURIComponent(w.location.hash.slice(1))) !== null;
  document.getElementById("out").textContent = JSON.stringify(out);
}
</script></body></html>`

// seen holds the observations of the harness.
type seen struct {
	Width, View   float64
	Back, Arrived string
	Formulas      []float64
	Navigation    int
	Open, Results []string
	Requests      []string
	There         bool
	query         string
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

func look(t *testing.T, path, folder, query string, width int, dark bool) seen {
	t.Helper()
	name := filepath.Join(folder, "harness.html")
	if err := os.WriteFile(name, fmt.Appendf(nil, harness, width, query), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"--headless=new", "--no-sandbox", "--disable-gpu",
		"--user-data-dir=" + t.TempDir(), "--allow-file-access-from-files",
		"--virtual-time-budget=20000", "--window-size=1400,1000", "--dump-dom"}
	if dark {
		args = append(args, "--blink-settings=preferredColorScheme=0")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dom, err := exec.CommandContext(ctx, path, append(args, "file://"+name)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)<pre id="out">(.*?)</pre>`).FindSubmatch(dom)
	s := seen{query: query}
	if found == nil || json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &s) != nil {
		t.Fatalf("the browser's page has no output: %.500s", dom)
	}
	return s
}

// TestSiteInABrowser opens the site from disk in Chromium, at the width of a desktop and of a
// telephone, in light and dark mode. The page fits the window, formulas are drawn, nothing is
// loaded from the network, and a search finds a section and leads to it.
func TestSiteInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser three times")
	}
	path := browser(t)
	folder, _ := built(t)
	light := look(t, path, folder, "noise multiplier", 1280, false)
	dark := look(t, path, folder, "Sums of gradients", 400, true)
	nothing := look(t, path, folder, "xylophone", 1280, false)
	for _, s := range []seen{light, dark} {
		if s.Width > s.View {
			t.Errorf("%s: the page is %v pixels wide, the window %v", s.query, s.Width, s.View)
		}
		if len(s.Formulas) < 3 || s.Navigation < 40 || len(s.Open) != 1 || s.Open[0] != "Design" {
			t.Errorf("%s: got %d formulas, %d links, open pages %q", s.query,
				len(s.Formulas), s.Navigation, s.Open)
		}
		for _, height := range s.Formulas {
			if height < 10 {
				t.Errorf("%s: a formula is only %v pixels high", s.query, height)
			}
		}
		if len(s.Results) == 0 || !s.There {
			t.Errorf("%s: the search finds %q and leads to %q", s.query, s.Results, s.Arrived)
		}
		for _, r := range s.Requests {
			if !strings.HasPrefix(r, "file://") && !strings.HasPrefix(r, "data:") {
				t.Errorf("%s: the page requests %s", s.query, r)
			}
		}
	}
	if dark.Arrived != "design.html#sums-of-gradients" {
		t.Errorf("a search for a heading leads to %s", dark.Arrived)
	}
	if light.Back == dark.Back {
		t.Errorf("light and dark pages have the same background %s", light.Back)
	}
	if len(nothing.Results) != 0 {
		t.Errorf("a search for a word that no page has finds %q", nothing.Results)
	}
}
