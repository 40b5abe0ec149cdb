"""The twelve classifiers of the DP-MERF paper with the settings of its code, and a small convolutional network."""
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier


def for_tables(seed):
    """Library defaults, except the iterations of logistic regression and the smoothing of Bernoulli naive Bayes."""
    return {
        "logistic regression": LogisticRegression(solver="lbfgs", max_iter=2000, random_state=seed),
        "Gaussian naive Bayes": GaussianNB(),
        "Bernoulli naive Bayes": BernoulliNB(alpha=.02),
        "linear SVM": LinearSVC(random_state=seed),
        "decision tree": DecisionTreeClassifier(random_state=seed),
        "LDA": LinearDiscriminantAnalysis(),
        "AdaBoost": AdaBoostClassifier(random_state=seed),
        "bagging": BaggingClassifier(random_state=seed),
        "random forest": RandomForestClassifier(random_state=seed),
        "gradient boosting": GradientBoostingClassifier(random_state=seed),
        "MLP": MLPClassifier(random_state=seed),
        "XGBoost": XGBClassifier(random_state=seed, n_jobs=1),
    }


def for_images(seed, quick):
    """Settings of the paper's image code. scikit-learn has dropped AdaBoost's SAMME.R, so this is SAMME; quick limits the
    iterations of the two linear models, whose full convergence takes hours."""
    svm = {"tol": 1e-3, "max_iter": 300} if quick else {"tol": 1e-8, "max_iter": 10000}
    return {
        "logistic regression": LogisticRegression(solver="lbfgs", max_iter=200 if quick else 5000, random_state=seed),
        "random forest": RandomForestClassifier(n_estimators=100, class_weight="balanced", random_state=seed),
        "Gaussian naive Bayes": GaussianNB(),
        "Bernoulli naive Bayes": BernoulliNB(binarize=.5),
        "linear SVM": LinearSVC(loss="hinge", random_state=seed, **svm),
        "decision tree": DecisionTreeClassifier(class_weight="balanced", random_state=seed),
        "LDA": LinearDiscriminantAnalysis(solver="eigen", n_components=9, tol=1e-8, shrinkage=.5),
        "AdaBoost": AdaBoostClassifier(n_estimators=100, random_state=seed),
        "MLP": MLPClassifier(random_state=seed),
        "bagging": BaggingClassifier(max_samples=.1, n_estimators=20, random_state=seed),
        "gradient boosting": GradientBoostingClassifier(subsample=.1, n_estimators=50, random_state=seed),
        "XGBoost": XGBClassifier(colsample_bytree=.1, objective="multi:softprob", n_estimators=50, random_state=seed, n_jobs=1),
    }


class Constant:
    """Predicts one class always, for training records of a single class."""

    def __init__(self, label):
        self.label = label

    def predict(self, x):
        return np.full(len(x), self.label)


class Relabelled:
    """Lets a classifier that requires labels 0 … k-1 train on records in which some classes do not occur."""

    def __init__(self, model):
        self.model = model

    def fit(self, x, y):
        self.present, codes = np.unique(y, return_inverse=True)
        if len(self.present) == 1:
            self.model = Constant(0)
        else:
            self.model.fit(x, codes)
        return self

    def predict(self, x):
        return self.present[np.asarray(self.model.predict(x)).astype(int)]

    def scores(self, x, classes):
        """Scores with one column for each class; absent classes have the lowest score."""
        m = self.model
        if isinstance(m, Constant):
            s = np.zeros((len(x), 1))
        elif hasattr(m, "predict_proba"):
            s = m.predict_proba(x)
        else:
            s = m.decision_function(x)
            s = np.column_stack([-s, s]) if s.ndim == 1 else s
        out = np.full((len(x), classes), s.min() - 1)
        out[:, self.present] = s
        return out


class CNN:
    """Two striding convolutions of 5×5 windows, 32 and 64 maps, and 128 dense units with dropout; Adam, batches of 128."""

    def __init__(self, seed, epochs=5, side=28, colours=1):
        self.seed, self.epochs, self.side, self.colours = seed, epochs, side, colours

    def fit(self, x, y):
        import torch
        from torch import nn
        torch.manual_seed(self.seed)
        maps = -(-self.side // 4)
        self.net = nn.Sequential(
            nn.Conv2d(self.colours, 32, 5, 2, 2), nn.ReLU(), nn.Conv2d(32, 64, 5, 2, 2), nn.ReLU(), nn.Flatten(),
            nn.Dropout(.25), nn.Linear(64 * maps * maps, 128), nn.ReLU(), nn.Dropout(.5), nn.Linear(128, int(y.max()) + 1))
        adam = torch.optim.Adam(self.net.parameters(), 1e-3)
        images, labels = self.tensor(x), torch.from_numpy(y)
        for _ in range(self.epochs):
            for rows in torch.randperm(len(y)).split(128):
                adam.zero_grad()
                nn.functional.cross_entropy(self.net(images[rows]), labels[rows]).backward()
                adam.step()
        self.net.eval()
        return self

    def tensor(self, x):
        import torch
        pixels = torch.from_numpy(x.astype(np.float32)).reshape(-1, self.side, self.side, self.colours)
        return pixels.permute(0, 3, 1, 2).contiguous()

    def logits(self, x):
        import torch
        with torch.no_grad():
            return torch.cat([self.net(part) for part in self.tensor(x).split(1000)])

    def predict(self, x):
        return self.logits(x).argmax(1).numpy()

    def scores(self, x, classes):
        out = np.full((len(x), classes), -1.)
        p = self.logits(x).softmax(1).numpy()
        out[:, :p.shape[1]] = p
        return out
