package homology

import (
	"fmt"
	"math/big"
	"slices"
)

// A sparse matrix over the integers knows the rows that have each column.
type sparse struct {
	rows []map[uint32]int64
	in   []map[int]bool // the rows of a column
}

// mostEntry is the greatest entry that elimination may come to.
const mostEntry = 1 << 30

// torsion finds the entries of a diagonal form of a boundary matrix that are more than 1. Pivots of
// 1 and -1 are eliminated in rows that hold nothing but what is not 0; of what is left, a full
// matrix is made, if that is not too large.
func (c *chains) torsion(d int) ([]uint64, error) {
	m := sparse{in: make([]map[int]bool, c.count[d-1])}
	for i := range m.in {
		m.in[i] = map[int]bool{}
	}
	for i := range int(c.count[d]) {
		row := map[uint32]int64{}
		for k, f := range c.boundary[d][i*(d+1) : (i+1)*(d+1)] {
			row[f] = int64(1 - 2*(k%2))
			m.in[f][i] = true
		}
		m.rows = append(m.rows, row)
	}
	for more := true; more; {
		more = false
		for i, row := range m.rows {
			column, found := uint32(0), false
			for f, v := range row {
				if (v == 1 || v == -1) && (!found || len(m.in[f]) < len(m.in[column]) || len(m.in[f]) == len(m.in[column]) && f < column) {
					column, found = f, true
				}
			}
			if found {
				more = true
				if err := m.eliminate(i, column); err != nil {
					return nil, err
				}
			}
		}
	}
	return m.rest()
}

// eliminate takes a row and a column away whose common entry is a unit.
func (m *sparse) eliminate(i int, column uint32) error {
	pivot := m.rows[i]
	for f := range pivot {
		delete(m.in[f], i)
	}
	for r := range m.in[column] {
		times := m.rows[r][column] * pivot[column]
		for f, v := range pivot {
			switch now := m.rows[r][f] - times*v; {
			case now == 0:
				delete(m.rows[r], f)
				delete(m.in[f], r)
			case now > mostEntry || now < -mostEntry:
				return fmt.Errorf("telling the orders of torsion: an entry grows beyond %d", mostEntry)
			default:
				m.rows[r][f] = now
				m.in[f][r] = true
			}
		}
	}
	m.rows[i] = nil
	return nil
}

// rest is the entries of a diagonal form of what is left that are more than 1.
func (m *sparse) rest() ([]uint64, error) {
	var full [][]*big.Int
	var columns []uint32
	for f, in := range m.in {
		if len(in) > 0 {
			columns = append(columns, uint32(f))
		}
	}
	for _, row := range m.rows {
		if len(row) == 0 {
			continue
		}
		if n := float64(len(full)); n*n*float64(len(columns)) > mostSteps {
			return nil, fmt.Errorf("telling the orders of torsion takes more than %.3g steps of elimination", float64(mostSteps))
		}
		list := make([]*big.Int, len(columns))
		for k := range list {
			list[k] = new(big.Int)
		}
		for f, v := range row {
			k, _ := slices.BinarySearch(columns, f)
			list[k].SetInt64(v)
		}
		full = append(full, list)
	}
	_, torsion, err := diagonal(full)
	return torsion, err
}
