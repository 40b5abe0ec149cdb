package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newMan(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Hidden: true,
		Short:  "Write the manual pages into a folder",
		Args:   arguments("FOLDER"),
		RunE: a.action(func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			// A fixed date: the pages change only with the help texts.
			day := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
			root := c.Root()
			root.InitDefaultCompletionCmd()
			return doc.GenManTree(root, &doc.GenManHeader{Title: "PRIVGEN", Section: "1", Date: &day,
				Source: "privgen", Manual: "Private synthetic data"}, args[0])
		}),
	}
}
