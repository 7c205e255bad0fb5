package format

import (
	"sync"

	"eccbench/internal/grid"
)

// Surveys cache the ladders of image files that needed a read of the whole file. The key has the
// names, sizes and times of change of the image's files, its volume, and the requested number of
// levels. Nil caches nothing. They are safe for concurrent use.
type Surveys struct {
	mu   sync.Mutex
	list []survey // the latest is the last
}

// A survey is the result for one file.
type survey struct {
	key    surveyKey
	ladder grid.Ladder
}

type surveyKey struct {
	image  string // its files' identity
	levels int64
}

// mostSurveys limits the cache: a ladder may have one value per voxel of its image.
const mostSurveys = 8

// ladder returns the ladder of an image from the cache, by its identity, or computes it. known
// reports that it was in the cache.
func (s *Surveys) ladder(image string, levels int64,
	find func() (grid.Ladder, error)) (l grid.Ladder, known bool, err error) {
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
