package counting

// Narrowed limits the number of questions in a launch.
func (b *Batch) Narrowed(questions int64) *Batch {
	b.chunk = questions
	return b
}
