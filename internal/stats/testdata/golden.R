# Writes hodgeslehmann.json: Hodges-Lehmann estimates, exact bounds and Holm's
# adjustment by R.
#
#   Rscript golden.R > hodgeslehmann.json
set.seed(20, kind = "Mersenne-Twister", normal.kind = "Inversion")
list.of <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
bounds <- c()
for (n in c(5, 6, 7, 8, 10, 13, 20, 40)) for (level in c(0.9, 0.95, 0.99)) {
  if (0.5^n > 1 - level) next # R answers with the extremes, at a lower level
  d <- round(rnorm(n, 0.2, 1), 6)
  up <- wilcox.test(d, alternative = "greater", conf.int = TRUE, conf.level = level, exact = TRUE)
  down <- wilcox.test(d, alternative = "less", conf.int = TRUE, conf.level = level, exact = TRUE)
  bounds <- c(bounds, sprintf('  {"level": %g, "d": %s, "estimate": %.17g, "lo": %.17g, "hi": %.17g, "p": %.17g}',
                              level, list.of(d), up$estimate, up$conf.int[1], down$conf.int[2], up$p.value))
}
holm <- c()
for (p in list(c(0.01, 0.04, 0.03, 0.005), c(0.5), c(0.9, 0.8, 0.001), c(0.02, 0.02, 0.02), round(runif(9), 6)))
  holm <- c(holm, sprintf('  {"p": %s, "adjusted": %s}', list.of(p), list.of(p.adjust(p, "holm"))))
cat('{\n "by": "', R.version.string, ": wilcox.test(d, alternative, conf.int=TRUE, conf.level, exact=TRUE), p.adjust(p, 'holm')",
    '",\n "bounds": [\n', paste(bounds, collapse = ",\n"), '\n ],\n "holm": [\n', paste(holm, collapse = ",\n"), "\n ]\n}\n", sep = "")
