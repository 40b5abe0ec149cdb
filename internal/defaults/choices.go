// Package defaults contains the rules by which systems choose settings that a configuration leaves
// open. The rules use three public inputs: the schema, the budget, and the nominal number of
// records. No rule reads a record.
//
// # Signal
//
// All rules use one number, the signal s = n/σ₁. Here σ₁ is the noise of a single Gaussian release
// that costs the whole budget, relative to the largest contribution of one record. A mean of n rows
// of norm 1 in p coordinates, released once, has noise of norm √p/s. If T releases share the
// budget, each has √T times the noise. The same is true, relative to the batch, for T steps on
// Poisson samples of any size, if the noise multiplier is above about 1. Therefore
//
//	noise of a step's mean gradient ≈ √(T·p)/s,     in units of the clip norm
//
// and each rule keeps this noise below a fixed fraction of 1. [Task.Steps] chooses T, [Task.Width]
// chooses p, and [Task.Features] chooses the length of a released mean. The fractions were fitted
// on generated data of many shapes (docs/defaults.md), never on test data.
package defaults

import (
	"fmt"
	"reflect"
)

// A Choice is one setting that a rule has made.
type Choice struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
	Why     string `json:"why"`
}

// Choices lists the choices of a plan.
type Choices []Choice

// Add records a choice.
func (c *Choices) Add(setting string, value any, why string) {
	*c = append(*c, Choice{setting, text(value), why})
}

// Fill sets a field that is zero, and records the choice.
func Fill[T any](c *Choices, field *T, value T, setting, why string) {
	if !reflect.ValueOf(field).Elem().IsZero() {
		return
	}
	*field = value
	c.Add(setting, value, why)
}

// text returns a value as a plan prints it.
func text(value any) string {
	switch v := value.(type) {
	case float64:
		return fmt.Sprintf("%.4g", v)
	case fmt.Stringer:
		return v.String()
	}
	v := reflect.ValueOf(value)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return fmt.Sprint(value)
	}
	return v.Type().String() + shown(v)
}

// shown lists the fields that are not zero.
func shown(v reflect.Value) string {
	list := "{"
	for i := range v.NumField() {
		f := v.Field(i)
		if f.IsZero() || !v.Type().Field(i).IsExported() {
			continue
		}
		if list != "{" {
			list += ", "
		}
		list += v.Type().Field(i).Name + ": " + text(f.Interface())
	}
	return list + "}"
}

// Notes returns the lines of a plan that list the choices and their reasons.
func (c Choices) Notes() (notes []string) {
	for _, one := range c {
		if one.Setting == "" {
			notes = append(notes, one.Why)
			continue
		}
		notes = append(notes, fmt.Sprintf("chosen: %s = %s: %s", one.Setting, one.Value, one.Why))
	}
	return notes
}
