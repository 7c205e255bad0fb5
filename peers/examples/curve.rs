//! The Euler characteristic curve of the T-construction in Rust, without crates: a cell is there from
//! the least level of the voxels around it on. rustc --edition 2021 -O -o curve-rs curve.rs
use std::collections::HashMap;
use std::fs::{read, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::ops::RangeInclusive;
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;

const ABOUT: &str = r#"{"protocol": "eccbench-peer/1", "name": "curve-rs", "version": "1", "language": "Rust",
"method": "every cell of the T-construction, at the least level of its voxels", "where": "cpu",
"answers": [{"workload": "ecc", "construction": "T"}]}"#;

/// Reads a .npy file: its shape, and its elements as f64, which holds those of all types.
fn array(path: &str) -> (Vec<usize>, Vec<f64>) {
    let bytes = read(path).unwrap();
    let start = 10 + u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let head = String::from_utf8_lossy(&bytes[10..start]);
    let after = |key: &str| head.split(key).nth(1).unwrap().to_string();
    let shape = after("'shape': (").split([',', ')']).map_while(|n| n.trim().parse().ok()).collect();
    let data = &bytes[start..];
    let values = match &after("'descr': '")[1..3] {
        "u1" => data.iter().map(|&b| b as f64).collect(),
        "u2" => data.chunks(2).map(|b| u16::from_le_bytes(b.try_into().unwrap()) as f64).collect(),
        "i2" => data.chunks(2).map(|b| i16::from_le_bytes(b.try_into().unwrap()) as f64).collect(),
        "f4" => data.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()) as f64).collect(),
        _ => data.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect(),
    };
    (shape, values)
}

/// The voxels of an axis of n around a doubled coordinate: odd ones are within a voxel.
fn around(i: usize, n: usize) -> RangeInclusive<usize> {
    i.saturating_sub(1) / 2..=(i / 2).min(n - 1)
}

fn answer(words: &HashMap<String, String>) -> String {
    let ((shape, image), (_, levels)) = (array(&words["image"]), array(&words["levels"]));
    let rank: Vec<usize> = image.iter().map(|v| levels.partition_point(|l| l < v)).collect();
    let flat = 3 - shape.len(); // 1 for an image of two axes
    let (d, h, w) = (if flat == 1 { 1 } else { shape[0] }, shape[1 - flat], shape[2 - flat]);
    let mut changes = vec![0i64; levels.len()];
    for z in flat..=2 * d - flat {
        for y in 0..=2 * h {
            for x in 0..=2 * w {
                let rows = around(z, d).flat_map(|c| around(y, h).map(move |b| (c * h + b) * w));
                let least = rows.flat_map(|row| around(x, w).map(move |a| row + a)).map(|i| rank[i]).min().unwrap();
                if least < levels.len() {
                    changes[least] += if (x + y + z + flat) % 2 == 0 { 1 } else { -1 };
                }
            }
        }
    }
    let bytes: Vec<u8> = changes.iter().flat_map(|c| c.to_le_bytes()).collect();
    let file = OpenOptions::new().write(true).open(&words["answer"]).unwrap();
    file.write_all_at(&bytes, 4096).unwrap();
    "done".to_string()
}

fn main() {
    let (commands, mut replies) = unsafe { (File::from_raw_fd(3), File::from_raw_fd(4)) };
    let mut bound = HashMap::new(); // questions by their number
    for line in BufReader::new(commands).lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split(' ').collect();
        let reply = match words[0] {
            "about" => format!("about {}", ABOUT.replace('\n', " ")),
            "bind" => {
                let pairs = words[2..].iter().filter_map(|w| w.split_once('='));
                bound.insert(words[1].to_string(), pairs.map(|(k, v)| (k.into(), v.into())).collect());
                "ready".to_string()
            }
            "do" => answer(&bound[words[1]]),
            "free" => bound.remove(words[1]).map_or("freed", |_| "freed").to_string(),
            "ping" => "pong".to_string(),
            "end" => return,
            verb => format!("unknown {verb}"),
        };
        replies.write_all((reply + "\n").as_bytes()).unwrap();
    }
}
