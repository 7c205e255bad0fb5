package peers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Serve answers commands as a peer until the pipe ends. bind returns the task of a question, whose
// words are KEY=VALUE; an Error of kind Refused rejects the question.
func Serve(about func() About, bind func(words map[string]string) (Task, error)) error {
	for fd := 3; fd <= 4; fd++ {
		var s unix.Stat_t
		if unix.Fstat(fd, &s) != nil || s.Mode&unix.S_IFMT != unix.S_IFIFO {
			return ErrAlone
		}
		unix.CloseOnExec(fd)
	}
	s := server{about: about, bind: bind, tasks: map[string]Task{}}
	in, out := bufio.NewReaderSize(os.NewFile(3, "commands"), maxLine), os.NewFile(4, "replies")
	for {
		line, err := in.ReadSlice('\n')
		words := strings.Fields(string(line))
		if err != nil || len(words) == 0 || words[0] == "end" {
			return nil
		}
		if _, err := out.WriteString(s.reply(words) + "\n"); err != nil {
			return err
		}
	}
}

// A server is the state of Serve.
type server struct {
	about func() About
	bind  func(map[string]string) (Task, error)
	tasks map[string]Task // by number
}

// reply returns the line that answers a command.
func (s *server) reply(words []string) string {
	number := ""
	if len(words) > 1 {
		number = words[1]
	}
	task := s.tasks[number]
	switch verb := words[0]; {
	case verb == "about":
		text, err := json.Marshal(s.about())
		return outcome("about "+string(text), err)
	case verb == "ping":
		return "pong"
	case verb == "bind":
		known := map[string]string{}
		for _, w := range words[min(2, len(words)):] {
			key, value, _ := strings.Cut(w, "=")
			known[key] = value
		}
		task, err := s.bind(known)
		if err == nil {
			s.tasks[number] = task
		}
		return outcome("ready", err)
	case verb == "do" && task != nil:
		return outcome(s.do(words[1:]))
	case verb == "allocated" && task != nil && len(words) == 3:
		calls, _ := strconv.Atoi(words[2])
		n, err := task.Allocated(calls)
		return outcome(fmt.Sprintf("allocated %d", n), err)
	case verb == "free" && task != nil:
		delete(s.tasks, number)
		return outcome("freed", task.Close())
	}
	return "unknown " + words[0]
}

// do answers questions, and returns the reply with the sums of the times of parts.
func (s *server) do(words []string) (string, error) {
	sums := map[string]time.Duration{}
	for _, number := range words {
		if number == Trace {
			continue
		}
		task := s.tasks[number]
		if task == nil {
			return "", errors.New("no question " + number)
		}
		spans, err := task.Answer(slices.Contains(words, Trace))
		if err != nil {
			return "", err
		}
		for name, d := range spans {
			sums[name] += d
		}
	}
	reply := "done"
	for name, d := range sums {
		reply += fmt.Sprintf(" %s=%d", strings.ReplaceAll(name, " ", "_"), d)
	}
	return reply, nil
}

// outcome returns the reply to a command that succeeded, or the one for its error.
func outcome(reply string, err error) string {
	if err == nil {
		return reply
	}
	if refused := new(Error); errors.As(err, &refused) && refused.Kind == Refused {
		return "refuse " + shown(refused.Why)
	}
	return "failed " + shown(fmt.Sprint(err))
}
