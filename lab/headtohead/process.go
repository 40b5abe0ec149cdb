package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed7ba64551/privgen/lab/internal/runs"
)

// Each run of a system is a process of its own, which reads the rows from a file and writes its
// rows to another, whatever its language. So time and memory mean the same for all. This process
// stays small, since the system counts its memory as the least peak of a process that it starts.

const drawnFile = "drawn.csv"

// child does one step in a process that start has started.
func (c config) child(ctx context.Context) error {
	switch c.step {
	case "prepare":
		return c.sets[0].prepare(c.data, c.folder, c.rows)
	case "draw":
		return c.systems[0].draw(ctx, jobIn(c.folder, drawnFile, c.epsilons[0], c.seed))
	case "judge":
		file := drawnFile
		if c.systems[0].name == real {
			file = trainFile
		}
		return judge(os.Stdout, c.folder, file, c.sets[0].drop)
	}
	return fmt.Errorf("-step %q: want prepare, draw or judge", c.step)
}

// start runs this program again for one step, and returns what it prints.
func (c config) start(ctx context.Context, s set, key runs.Key, step, folder string) ([]byte,
	error) {
	command, err := c.process(ctx, s, key, step, folder)
	if err != nil {
		return nil, err
	}
	return command.Output()
}

// process returns the command of a step.
func (c config) process(ctx context.Context, s set, key runs.Key, step, folder string) (*exec.Cmd,
	error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, own, "-step", step, "-data", c.data, "-sets", s.name,
		"-systems", key.System, "-rows", strconv.Itoa(c.rows), "-folder", folder,
		"-epsilon", strconv.FormatFloat(key.Epsilon, 'g', -1, 64),
		"-seed", strconv.FormatUint(key.Seed, 10))
	command.Stderr = os.Stderr
	return command, nil
}

// one runs a system once and measures its rows. Measures that were not taken are NaN.
func (c config) one(ctx context.Context, s set, key runs.Key, folder string) ([]float64, error) {
	got := map[string]float64{}
	if key.System != real {
		late, err := c.draw(ctx, s, key, folder, got)
		if err != nil || late {
			return listed(got), err
		}
	}
	out, err := c.start(ctx, s, key, "judge", folder)
	if err != nil {
		return nil, err
	}
	if c.python != "" {
		more, err := c.quality(ctx, key, folder)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	for line := range bytes.Lines(out) {
		var name string
		var value float64
		if _, err := fmt.Sscan(string(line), &name, &value); err == nil {
			got[name] = value
		}
	}
	return listed(got), nil
}

// draw runs the system, measures time and memory, and reports whether the time limit was reached.
func (c config) draw(ctx context.Context, s set, key runs.Key, folder string,
	got map[string]float64) (late bool, err error) {
	own, err := find(systems, key.System, func(s system) string { return s.name })
	if err != nil {
		return false, err
	}
	within, stop := context.WithTimeout(ctx, c.limit)
	defer stop()
	command, err := c.process(within, s, key, "draw", folder)
	if own.command != nil {
		command = own.command(within, c.python, jobIn(folder, drawnFile, key.Epsilon, key.Seed))
	}
	if err != nil {
		return false, err
	}
	command.WaitDelay = time.Second
	began := time.Now()
	err = command.Run()
	if ctx.Err() == nil && errors.Is(within.Err(), context.DeadlineExceeded) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	state := command.ProcessState
	got["wall_s"] = time.Since(began).Seconds()
	got["processor_s"] = (state.UserTime() + state.SystemTime()).Seconds()
	got["memory_mib"] = peakMemory(state)
	return false, nil
}

// quality runs SDMetrics.
func (c config) quality(ctx context.Context, key runs.Key, folder string) ([]byte, error) {
	file := drawnFile
	if key.System == real {
		file = trainFile
	}
	command := exec.CommandContext(ctx, c.python, "peers/judge/quality.py",
		"--schema", filepath.Join(folder, schemaFile), "--real", filepath.Join(folder, testFile),
		"--synthetic", filepath.Join(folder, file))
	command.Stderr = os.Stderr
	return command.Output()
}

// listed returns the measures in the order of the results.
func listed(got map[string]float64) (list []float64) {
	for _, m := range measures {
		value, ok := got[m.name]
		if !ok {
			value = math.NaN()
		}
		list = append(list, value)
	}
	return list
}
