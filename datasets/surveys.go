package datasets

import (
	"sync"

	"eccbench/internal/grid"
)

// Surveys are the ladders of image files that were looked at whole, so that a file that
// is opened again is not: by the names, sizes and times of change of the files of an image, its volume,
// and the number of levels that was asked for. Nil remembers nothing. They are safe for concurrent use.
type Surveys struct {
	mu   sync.Mutex
	list []survey // the latest last
}

// A survey is what was found of one file.
type survey struct {
	key    surveyKey
	ladder grid.Ladder
}

type surveyKey struct {
	image  string // its files' identity
	levels int64
}

// mostSurveys is how many are remembered: a ladder may have as many values as its image
// has voxels.
const mostSurveys = 8

// ladder is that of an image, by what tells it from others, remembered or found, and whether
// it was remembered.
func (s *Surveys) ladder(image string, levels int64, find func() (grid.Ladder, error)) (l grid.Ladder, known bool, err error) {
	if s == nil || image == "" {
		l, err = find()
		return l, false, err
	}
	key := surveyKey{image, levels}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, found := range s.list {
		if found.key == key {
			return found.ladder, true, nil
		}
	}
	if l, err = find(); err != nil {
		return l, false, err
	}
	if len(s.list) == mostSurveys {
		s.list = s.list[1:]
	}
	s.list = append(s.list, survey{key, l})
	return l, false, nil
}
