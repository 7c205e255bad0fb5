"""Parse and render recipe.yaml by rattler-build, for the C library of conda-forge."""

from pathlib import Path

from rattler_build import Stage0Recipe, VariantConfig

variants = VariantConfig.from_yaml("c_stdlib: [sysroot]\nc_stdlib_version: ['2.17']\n")
for variant in Stage0Recipe.from_file(Path(__file__).with_name("recipe.yaml")).render(variants):
    print("recipe.yaml:", variant.recipe.package.name, variant.recipe.package.version)
