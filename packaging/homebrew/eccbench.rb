# A template: HOST, VERSION and the four checksums come from a release (make release writes dist/SHA256SUMS).
class Eccbench < Formula
  desc "Verified Euler characteristic curves and Betti numbers of images"
  homepage "https://HOST/eccbench"
  version "VERSION"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://HOST/eccbench/releases/vVERSION/eccbench-vVERSION-darwin-arm64.tar.gz"
      sha256 "SHA256_DARWIN_ARM64"
    end
    on_intel do
      url "https://HOST/eccbench/releases/vVERSION/eccbench-vVERSION-darwin-amd64.tar.gz"
      sha256 "SHA256_DARWIN_AMD64"
    end
  end
  on_linux do
    on_arm do
      url "https://HOST/eccbench/releases/vVERSION/eccbench-vVERSION-linux-arm64.tar.gz"
      sha256 "SHA256_LINUX_ARM64"
    end
    on_intel do
      url "https://HOST/eccbench/releases/vVERSION/eccbench-vVERSION-linux-amd64.tar.gz"
      sha256 "SHA256_LINUX_AMD64"
    end
  end

  def install
    bin.install "eccbench"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/eccbench.bash" => "eccbench"
    zsh_completion.install "completions/_eccbench"
    fish_completion.install "completions/eccbench.fish"
  end

  test do
    assert_match "VERIFIED", shell_output("#{bin}/eccbench curve torus/shape=64x64x32/type=uint8/radius=16/tube=6")
  end
end
