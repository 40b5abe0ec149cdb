package workers

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/sgd"
)

// Serve carries out the tasks that a [Pool] sends until the connection ends. If the worker refuses
// a task, the answer is the reason.
//
// Errors: errors of reading and writing, except the end of the connection; the context's error.
func Serve(ctx context.Context, conn io.ReadWriter, w *sgd.Worker) error {
	for {
		kind, task, err := readFrame(conn)
		if errors.Is(err, io.EOF) {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if kind != frameTask {
			return errFrame
		}
		result, err := w.Do(ctx, task)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		answer, about := result, byte(frameResult)
		if err != nil {
			answer, about = []byte(err.Error()), frameError
		}
		if err := writeFrame(conn, about, answer); err != nil {
			return err
		}
	}
}

// ReadKey reads the key, which [Command] writes to a process before anything else.
//
// Errors: errors of reading.
func ReadKey(r io.Reader) (mechanism.Key, error) {
	secret := make([]byte, mechanism.KeySize)
	if _, err := io.ReadFull(r, secret); err != nil {
		return mechanism.Key{}, fmt.Errorf("workers: reading the key: %w", err)
	}
	return mechanism.ReadKey(secret)
}
