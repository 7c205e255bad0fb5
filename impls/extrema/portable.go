package extrema

import "unsafe"

// portable returns the kernels without vector instructions.
func portable[L lane, C change]() kernels[L, C] {
	return kernels[L, C]{volume: volume[L, C], area: area[L, C], scatter: scatter[L, C]}
}

func scatter[L lane, C change](tables []int32, entries int, values []L, changes []C) {
	changes = changes[:len(values)]
	if len(tables) < 4*entries {
		for i, v := range values {
			tables[v] += int32(changes[i])
		}
		return
	}
	a, b, c, d := tables[:entries], tables[entries:][:entries], tables[2*entries:][:entries], tables[3*entries:][:entries]
	for len(values) >= 4 && len(changes) >= 4 {
		a[values[0]] += int32(changes[0])
		b[values[1]] += int32(changes[1])
		c[values[2]] += int32(changes[2])
		d[values[3]] += int32(changes[3])
		values, changes = values[4:], changes[4:]
	}
	for i, v := range values {
		a[v] += int32(changes[i])
	}
}

// isAbove reports, as 1 or 0, whether a > b.
func isAbove(a, b int64) int32 { return int32(uint64(b-a) >> 63) }

// volume compares four sequences along each row: the voxels v, their minima y with the next row, z
// with the next plane, and yz with both. It passes the changes of yz to z, and changes of y and z to
// v. A row wins every comparison with the outside before it, even at the last level.
func volume[L lane, C change](t *tile[L, C], s *sink[L, C]) {
	var zero L
	first := lead / int(unsafe.Sizeof(zero))
	toV, toZ := s.handed[0][:t.width], s.handed[1][:t.width] // passed to v and z of the next row
	clear(toV)
	clear(toZ)
	for r := range t.rows + 1 {
		v0, w0 := t.below[r*t.stride+first:][:t.width+1], t.above[r*t.stride+first:][:t.width+1]
		v1, w1 := t.below[(r+1)*t.stride+first:][:t.width+1], t.above[(r+1)*t.stride+first:][:t.width+1]
		counted := r > 0
		var owed []C
		if counted {
			owed = t.owed[(r-1)*t.stride+first:][:t.width]
		}
		keepY := int32(-1) // all ones if a minimum over y may belong to this row
		if !counted && t.first {
			keepY = 0
		}
		keepZ := int32(-1)
		if t.outside {
			keepZ = 0
		}
		v, u := int64(v0[0]), int64(v1[0])
		z, zu := min(v, int64(w0[0])), min(u, int64(w1[0]))
		y, yz := min(v, u), min(z, zu)
		fv, fy, fz, fyz := int32(1), int32(1), int32(1), int32(1) // whether each falls from the previous voxel
		n := 0
		for x := range t.width {
			nv, nu := int64(v0[x+1]), int64(v1[x+1])
			nz, nzu := min(nv, int64(w0[x+1])), min(nu, int64(w1[x+1]))
			ny, nyz := min(nv, nu), min(nz, nzu)
			gv, gy, gz, gyz := isAbove(v, nv), isAbove(y, ny), isAbove(z, nz), isAbove(yz, nyz)

			ownY := (isAbove(v, u) - 1) & keepY // v ≤ u: all ones
			ownYZ := (isAbove(z, zu) - 1) & keepY
			ownZ := (isAbove(v, z) - 1) & keepZ // v = z
			dy, dyz := gy-fy, gyz-fyz
			dz := toZ[x] + gz - fz - dyz&ownYZ
			dv := toV[x] - gv + fv + dy&ownY + dz&ownZ
			toV[x], toZ[x] = dy&^ownY, -(dyz &^ ownYZ)
			if counted {
				dv += int32(owed[x])
				owed[x] = C(dz &^ ownZ)
				s.values[n], s.changes[n] = L(v), C(dv)
				if dv != 0 {
					n++
				}
			}
			v, u, z, zu, y, yz = nv, nu, nz, nzu, ny, nyz
			fv, fy, fz, fyz = gv, gy, gz, gyz
		}
		s.add(n)
	}
}

// area is volume for a 2D image: it compares the voxels v and their minima y with the next row. The
// changes have the opposite sign.
func area[L lane, C change](t *tile[L, C], s *sink[L, C]) {
	var zero L
	first := lead / int(unsafe.Sizeof(zero))
	toV := s.handed[0][:t.width]
	clear(toV)
	for r := range t.rows + 1 {
		v0, v1 := t.below[r*t.stride+first:][:t.width+1], t.below[(r+1)*t.stride+first:][:t.width+1]
		counted := r > 0
		keep := int32(-1)
		if !counted && t.first {
			keep = 0
		}
		v, u := int64(v0[0]), int64(v1[0])
		y := min(v, u)
		fv, fy := int32(1), int32(1)
		n := 0
		for x := range t.width {
			nv, nu := int64(v0[x+1]), int64(v1[x+1])
			ny := min(nv, nu)
			gv, gy := isAbove(v, nv), isAbove(y, ny)
			own := (isAbove(v, u) - 1) & keep
			dy := gy - fy
			dv := toV[x] + gv - fv - dy&own
			toV[x] = -(dy &^ own)
			if counted {
				s.values[n], s.changes[n] = L(v), C(dv)
				if dv != 0 {
					n++
				}
			}
			v, u, y = nv, nu, ny
			fv, fy = gv, gy
		}
		s.add(n)
	}
}
