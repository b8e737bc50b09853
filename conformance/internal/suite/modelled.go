package suite

import "github.com/escapement-go/escapement/conformance/internal/model"

// Modelled returns what a model says of a run, which is checked once, when it is first asked for. Trace returns what
// the states share, and the run in the terms of the model, and outcomes says what came of it, for who looks at what
// families reach; nil if nobody does. The test ends with a run that the model cannot judge.
func Modelled[S any, K comparable, T any](s *Suite, j Job, m model.Model[S, K, T], trace func() (*T, []model.Event),
	outcomes func(end S) []string) func() *model.Result[S] {
	var checked *model.Result[S]
	return func() *model.Result[S] {
		if checked != nil {
			return checked
		}
		t, events := trace()
		r := model.Check(m, t, events)
		if r.Failed != "" {
			s.T.Fatalf("conformance: %s cannot be judged: %s", j.Schedule, r.Failed)
		}
		if checked = &r; s.reached != nil && outcomes != nil && len(r.End) > 0 {
			s.reached(j.Family, append(r.Judged, outcomes(r.End[0])...))
		}
		return checked
	}
}
