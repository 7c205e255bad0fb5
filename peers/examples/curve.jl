#!/usr/bin/env julia
# The Euler characteristic curve of the T-construction in Julia, without packages: a cell is there from the least level
# of the voxels around it on.

const about = """{"protocol": "eccbench-peer/1", "name": "curve-jl", "version": "1", "language": "Julia", """ *
    """"method": "every cell of the T-construction, at the least level of its voxels", "where": "cpu", """ *
    """"answers": [{"workload": "ecc", "construction": "T"}]}"""

const types = Dict("u1" => UInt8, "u2" => UInt16, "i2" => Int16, "f4" => Float32, "f8" => Float64)

"The shape and the elements of a .npy file. Float64 represents the values of all types."
function array(path)
    bytes = read(path)
    start = 10 + bytes[9] + 256 * Int(bytes[10])
    head = String(bytes[11:start])
    shape = [parse(Int, n.match) for n in eachmatch(r"\d+", match(r"'shape': \(([^)]*)\)", head)[1])]
    type = types[match(r"'descr': '.(\w\w)'", head)[1]]
    return shape, Float64.(reinterpret(type, bytes[start+1:start+prod(shape)*sizeof(type)]))
end

"The voxels, from 0 on, of an axis of n around a doubled coordinate: odd ones are within a voxel."
around(i, n) = max(i - 1, 0)÷2:min(i ÷ 2, n - 1)

function answer(words)
    (shape, image), (_, levels) = array(words["image"]), array(words["levels"])
    rank = searchsortedfirst.(Ref(levels), image; lt = <)
    flat = 3 - length(shape) # 1 for an image of two axes
    d, h, w = flat == 1 ? (1, shape...) : shape
    changes = zeros(Int64, length(levels))
    for z in flat:2d-flat, y in 0:2h, x in 0:2w
        least = minimum(rank[(c*h+b)*w+a+1] for c in around(z, d), b in around(y, h), a in around(x, w))
        least <= length(levels) && (changes[least] += iseven(x + y + z + flat) ? 1 : -1)
    end
    open(words["answer"], "r+") do file
        seek(file, 4096)
        write(file, changes)
    end
    return "done"
end

function main()
    commands, replies = fdio(3), fdio(4)
    bound = Dict{String,Dict{String,String}}() # questions by their number
    for line in eachline(commands)
        verb, words = Iterators.peel(split(line, ' '))
        words = collect(words)
        reply = if verb == "about"
            "about " * about
        elseif verb == "bind"
            bound[words[1]] = Dict(Pair(split(w, '='; limit = 2)...) for w in words[2:end])
            "ready"
        elseif verb == "do"
            answer(bound[words[1]])
        elseif verb == "free"
            delete!(bound, words[1])
            "freed"
        elseif verb == "ping"
            "pong"
        elseif verb == "end"
            return
        else
            "unknown " * verb
        end
        println(replies, reply)
        flush(replies)
    end
end

main()
