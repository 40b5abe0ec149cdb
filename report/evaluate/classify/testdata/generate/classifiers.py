"""Writes ../classifiers.json: small generated data sets and scikit-learn's results on them.

    python classifiers.py

Features have two decimals, so that a histogram of 256 bins is exact.
"""
import json
import pathlib
import warnings

import numpy as np
import sklearn
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

warnings.filterwarnings("ignore")


def draw(rng, n, classes):
    """Draws four smooth coordinates, two that interact, two skewed ones and four bits; labels are noisy."""
    y = rng.choice(classes, size=n, p=[.72, .28] if classes == 2 else None)
    x = np.zeros((n, 12))
    x[:, :4] = .5 + .13 * rng.normal(size=(n, 4)) + .07 * np.cos(np.outer(y, np.arange(1, 5)) * 2)
    x[:, 4] = rng.uniform(size=n)
    x[:, 5] = np.where(y % 2 == 0, x[:, 4], 1 - x[:, 4]) * .6 + .4 * rng.uniform(size=n)
    x[:, 6:8] = rng.beta(1 + y[:, None], 4, size=(n, 2))
    x[:, 8:] = rng.uniform(size=(n, 4)) < .25 + .15 * np.sin(np.outer(y + 1, np.arange(1, 5)))
    flip = rng.uniform(size=n) < .05
    y = np.where(flip, rng.integers(classes, size=n), y)
    return np.clip(np.round(x, 2), 0, 1), y


def methods(seed):
    return {
        "Gaussian naive Bayes": GaussianNB(),
        "Bernoulli naive Bayes": BernoulliNB(alpha=1, binarize=.5),
        "linear discriminant analysis": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=.01),
        "linear support vector machine": LinearSVC(dual=False, tol=1e-8, max_iter=10000),
        "decision tree": DecisionTreeClassifier(random_state=seed),
        "decision tree, depth 4": DecisionTreeClassifier(max_depth=4, random_state=seed),
        "AdaBoost": AdaBoostClassifier(random_state=seed),
        "bagging": BaggingClassifier(random_state=seed),
        "random forest": RandomForestClassifier(random_state=seed),
        "gradient boosting": GradientBoostingClassifier(random_state=seed),
        "gradient boosting, half": GradientBoostingClassifier(subsample=.5, random_state=seed),
        "logistic regression": LogisticRegression(C=1e4, max_iter=10000),
        "multilayer perceptron [100]": MLPClassifier(max_iter=1000, random_state=seed),
    }


def ranking(y, s, classes):
    """Ranks the second of two classes, or returns the mean over classes of each against the rest."""
    if classes == 2:
        return roc_auc_score(y, s), average_precision_score(y, s)
    hot = np.eye(classes)[y]
    return roc_auc_score(hot, s, average="macro"), average_precision_score(hot, s, average="macro")


def scores(model, x, classes):
    """Returns the scores to rank by. More than two classes are ranked by probabilities if there are any, since logarithms of densities compare classes, not records."""
    if classes > 2 and hasattr(model, "predict_proba"):
        return model.predict_proba(x)
    s = model.decision_function(x) if hasattr(model, "decision_function") else model.predict_proba(x)
    return s[:, 1] if classes == 2 and s.ndim == 2 else s


def measure(model, x, y, classes):
    p = model.predict(x)
    roc, prc = ranking(y, scores(model, x, classes), classes)
    hard_roc, hard_prc = ranking(y, p if classes == 2 else np.eye(classes)[p], classes)
    return {
        "accuracy": float(np.mean(p == y)), "weighted_f1": f1_score(y, p, average="weighted"), "macro_f1": f1_score(y, p, average="macro"),
        "roc": roc, "prc": prc, "hard_roc": hard_roc, "hard_prc": hard_prc,
    }


def main():
    out = {"sklearn": sklearn.__version__, "sets": []}
    for classes in (2, 4):
        rng = np.random.default_rng(classes)
        x, y = draw(rng, 700, classes)
        tx, ty = draw(rng, 1500, classes)
        found = {}
        for name in methods(0):
            runs = []
            for seed in range(5):
                model = methods(seed)[name].fit(x, y)
                runs.append(measure(model, tx, ty, classes))
            found[name] = {k: round(float(np.mean([r[k] for r in runs])), 6) for k in runs[0]}
            found[name]["spread"] = round(float(np.std([r["accuracy"] for r in runs])), 6)
        found["Gaussian naive Bayes"]["named"] = GaussianNB().fit(x, y).predict(tx).tolist()
        out["sets"].append({
            "classes": classes, "train": x.tolist(), "train_labels": y.tolist(), "test": tx.tolist(), "test_labels": ty.tolist(), "methods": found,
        })
    path = pathlib.Path(__file__).parent.parent / "classifiers.json"
    path.write_text(json.dumps(out, separators=(",", ":")) + "\n")


main()
