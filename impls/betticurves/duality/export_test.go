package duality

// InBoxes returns the implementation with boxes of about the given number of voxels.
func InBoxes(i Implementation, voxels int64) Implementation {
	i.box = voxels
	return i
}
