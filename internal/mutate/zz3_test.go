package main
import ("testing";"fmt")
func TestStale(t *testing.T){
 eq,err:=readEquivalent("equivalent.json"); if err!=nil{t.Fatal(err)}
 var dirs []string; have:=map[string]bool{}
 for _,x:=range targets{ if x.dir!=""&&!have[x.dir]{have[x.dir]=true;dirs=append(dirs,x.dir)}}
 ps,err:=load("/work/main",dirs); if err!=nil{t.Fatal(err)}
 all:=map[string][]*Mutant{}
 for _,p:=range ps{ for _,m:=range p.mutants(){all[m.File]=append(all[m.File],m)}
  for _,m:=range p.asmMutants(""){all[m.File]=append(all[m.File],m)}}
 stale:=0
 for i,e:=range eq{ ok:=false; for _,m:=range all[e.File]{ if m.same(e){ok=true;break}}
  if !ok{stale++;fmt.Printf("STALE %d %s %s | %s\n  %s\n  %s\n",i,e.File,e.Func,e.Operator,e.Before,e.After)}}
 fmt.Println("stale",stale,len(eq))
}
