"""A data set is split, and a forest is fitted to one part of it."""

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

samples, labels = make_classification(300, flip_y=0.2, random_state=0)
train, test, train_labels, test_labels = train_test_split(samples, labels, random_state=0)
model = RandomForestClassifier(n_estimators=10, random_state=0).fit(train, train_labels)
print(model.score(test, test_labels), model.feature_importances_)
