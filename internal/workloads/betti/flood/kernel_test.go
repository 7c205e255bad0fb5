package flood

import "testing"

func TestGrows(t *testing.T)           { componentsGrow(t, 400) }
func TestTakesThoseAlone(t *testing.T) { thoseAloneAreTaken(t, 200) }
