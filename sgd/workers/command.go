package workers

import (
	"context"
	"fmt"
	"io"
	"os/exec"

	"github.com/seed7ba64551/privgen/mechanism"
)

// Command returns a start function of processes that serve on their standard input and output. A
// process gets the key by its input first, where no other process can read it: see [ReadKey]. The
// command may be ssh to another machine.
func Command(k mechanism.Key, command func() *exec.Cmd) func(context.Context) (io.ReadWriteCloser,
	error) {
	return func(context.Context) (io.ReadWriteCloser, error) {
		cmd := command()
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, fmt.Errorf("workers: %w", err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, fmt.Errorf("workers: %w", err)
		}
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("workers: %w", err)
		}
		p := &process{in, out, cmd}
		if _, err := in.Write(k.Secret()); err != nil {
			_ = p.Close()
			return nil, fmt.Errorf("workers: %w", err)
		}
		return p, nil
	}
}

// process is one that serves.
type process struct {
	io.WriteCloser
	out io.Reader
	cmd *exec.Cmd
}

func (p *process) Read(b []byte) (int, error) { return p.out.Read(b) }

// Close ends the process. What it was doing is lost.
func (p *process) Close() error {
	_ = p.WriteCloser.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // says that it was killed
	return nil
}
