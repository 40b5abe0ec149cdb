package workers

import (
	"context"
	"fmt"
	"io"
	"os/exec"

	"github.com/seed7ba64551/privgen/mechanism"
)

// Command returns a function for [Options.Start] that starts a process. The process must call
// [Serve] on its standard input and output. The first bytes of its input are the key, which no
// other process can read there: see [ReadKey]. The command may be ssh to another machine.
func Command(k mechanism.Key, command func() *exec.Cmd) func(context.Context) (io.ReadWriteCloser,
	error) {
	return func(context.Context) (io.ReadWriteCloser, error) {
		cmd := command()
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, fmt.Errorf("workers.Command: %w", err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, fmt.Errorf("workers.Command: %w", err)
		}
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("workers.Command: %w", err)
		}
		p := &process{in, out, cmd}
		if _, err := in.Write(k.Secret()); err != nil {
			_ = p.Close()
			return nil, fmt.Errorf("workers.Command: %w", err)
		}
		return p, nil
	}
}

// process is a worker process.
type process struct {
	io.WriteCloser
	out io.Reader
	cmd *exec.Cmd
}

func (p *process) Read(b []byte) (int, error) { return p.out.Read(b) }

// Close kills the process. A task that it was working on is lost.
func (p *process) Close() error {
	_ = p.WriteCloser.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // its error says that the process was killed
	return nil
}
