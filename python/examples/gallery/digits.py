"""
Digits, wherever they are
=========================

``BettiCurve`` is a transformer of scikit-learn: a row of features for each image, its components and holes by level.
They do not change when an image is moved. A classifier of pixels that learned centred digits fails on moved ones; one
of curves does not notice. Curves alone cannot tell all digits apart: a 6 and a 9 have the same.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from eccbench.sklearn import BettiCurve

digits, labels = load_digits(return_X_y=True)
centred = np.pad(digits.reshape(-1, 8, 8), ((0, 0), (4, 4), (4, 4)))
rng = np.random.default_rng(1)
moved = np.stack([np.roll(one, tuple(rng.integers(-4, 5, 2)), (0, 1)) for one in centred])
train, test = train_test_split(np.arange(len(labels)), random_state=0)

curves = BettiCurve(levels=np.arange(0.5, 16), superlevel=True, construction="V")
forest = RandomForestClassifier(random_state=0)
pixels, shapes = make_pipeline(forest), make_pipeline(curves, forest)
scores = {}
for name, model, form in (("pixels", pixels, (-1, 256)), ("curves", shapes, (-1, 16, 16))):
    model.fit(centred[train].reshape(form), labels[train])
    scores[name] = [model.score(images[test].reshape(form), labels[test]) for images in (centred, moved)]
    print(name, "right of centred and of moved digits:", np.round(scores[name], 3))

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
axes[0].imshow(np.block([[centred[9], moved[9]], [centred[8], moved[8]]]), cmap="gray_r")
axes[0].set_title("centred, moved")
axes[0].axis("off")
axes[1].imshow(curves.fit_transform(centred)[np.argsort(labels)], aspect="auto", vmax=3)
axes[1].set(xlabel="components, then holes, by level", ylabel="image, by digit", title="the features")
for k, (name, score) in enumerate(scores.items()):
    axes[2].bar(np.arange(2) + 0.4 * k, score, 0.4, label=name)
axes[2].set(xticks=[0.2, 1.2], xticklabels=["centred", "moved"], title="share of right answers")
axes[2].legend()
plt.show()
