package duality

import "testing"

func TestGrow(t *testing.T)           { trunksGrow(t, 400) }
func TestCharacteristic(t *testing.T) { characteristicsAre(t, 200) }
func TestGrowDown(t *testing.T)       { trunksGrowDown(t, 300) }
func TestAlone(t *testing.T)          { thoseAloneAreFound(t, 300) }
