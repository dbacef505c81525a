package agent

import (
	"context"
	"errors"
	"os/exec"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/jsonscan"
	"github.com/ccreload/ccreload/internal/problem"
)

// Payer is who pays for a run.
type Payer struct {
	Kind PayerKind
	// Source is where the key comes from, of ByKey and Withheld: a variable,
	// apiKeyHelper of the user's settings, or the name of a cloud.
	Source string
}

// PayerKind is the kind of a Payer.
type PayerKind string

// The kinds of payers.
const (
	ByPlan   PayerKind = "plan"     // a login with a plan
	ByKey    PayerKind = "key"      // a key or a cloud that bills for each token, also when there is a plan as well
	Withheld PayerKind = "withheld" // only a key would, and keys are not allowed
	Nobody   PayerKind = "nobody"   // nobody is logged in
)

// Payer asks the client who pays for a run with AgentEnviron(parent, allowKey),
// without the network. The settings of a repository have no say, as in a run.
func (s Store) Payer(ctx context.Context, c Client, parent []string, allowKey bool) (Payer, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	said, err := s.run(ctx, c.Path, host.AgentEnviron(parent, allowKey), "--setting-sources", "user", "auth", "status")
	// Exit code 1 is a client that nobody is logged in to.
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return Payer{}, err
	}
	p, ok := parsePayer([]byte(said))
	if !ok {
		return Payer{}, problem.Fault("try `claude auth status` in a terminal", "Claude Code does not say who is logged in")
	}
	if key := host.KeyIn(parent); key != "" {
		switch {
		// A token for a gateway passes for a plan (docs/host.md, Headless runs).
		case allowKey && p.Kind == ByPlan:
			p = Payer{ByKey, key}
		case !allowKey && p.Kind == Nobody:
			p = Payer{Withheld, key}
		}
	}
	return p, nil
}

// parsePayer reads the answer of `claude auth status`. Where a key has a source it
// pays, whatever authMethod says: 2.1.197 names the plan there.
func parsePayer(data []byte) (Payer, bool) {
	var loggedIn, known bool
	var method, provider, source string
	ok := jsonscan.Object(data, func(key, value []byte) {
		switch string(key) {
		case "loggedIn":
			loggedIn, known = jsonscan.True(value), true
		case "authMethod":
			method = jsonscan.Text(value)
		case "apiProvider":
			provider = jsonscan.Text(value)
		case "apiKeySource":
			source = jsonscan.Text(value)
		}
	})
	switch {
	case !ok || !known:
		return Payer{}, false
	case source != "" && source != "none":
		return Payer{ByKey, source}, true
	case !loggedIn:
		return Payer{Kind: Nobody}, true
	case provider != "" && provider != "firstParty":
		return Payer{ByKey, provider}, true
	case method == "api_key" || method == "api_key_helper":
		return Payer{ByKey, method}, true
	}
	return Payer{Kind: ByPlan}, true
}
