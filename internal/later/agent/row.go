package agent

import "github.com/ccreload/ccreload/internal/jsonscan"

// block is one piece of a message: a text, the call of a tool, or its answer.
type block struct {
	kind   string
	id     string // of the call, also in the answer
	text   string
	tool   string
	input  []byte
	failed bool // the answer is an error
}

// blocks calls visit for each piece of a message.
func blocks(message []byte, visit func(block)) {
	jsonscan.Array(jsonscan.Member(message, "content"), func(value []byte) {
		var b block
		if !jsonscan.Object(value, func(key, value []byte) {
			switch string(key) {
			case "type":
				b.kind = jsonscan.Plain(value)
			case "id", "tool_use_id":
				b.id = jsonscan.Text(value)
			case "text":
				b.text = jsonscan.Text(value)
			case "name":
				b.tool = jsonscan.Text(value)
			case "input":
				b.input = value
			case "is_error":
				b.failed = jsonscan.True(value)
			}
		}) {
			return
		}
		visit(b)
	})
}
