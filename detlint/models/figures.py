"""What draws figures for people, and what only computes with what it is given."""

from __future__ import annotations

from detlint.models.model import Names, words
from detlint.models.roles import DRAWING

# How what draws is called, where it is not seen what that is.
OWNERS = words("ax axes axs fig plt pyplot vis visualizer viz")
SHOWS = words("add_figure add_image add_images display imshow")
_DRAWS = Names(
    f"{{{','.join(DRAWING)}}}.**.*",
    "wandb.{Image,Plotly}",
    "statsmodels.{graphics.**.*plot*,api.qq*}",
)
# What of these gives data.
_READS = Names(
    "**.{imread,load_dataset}", "plotly.**.data.**.*", "matplotlib.{cm,colors,image}.**.*"
)
COMPUTES = Names(
    """
    numpy.{abs,absolute,add,array,asarray,clip,concatenate,cos,exp,full,hstack,linspace,log}
    numpy.{maximum,mean,minimum,multiply,negative,repeat,reshape,round,sin,sqrt,square,squeeze}
    numpy.{stack,subtract,sum,tile,vstack,where}
    """
)


def draws(name: str) -> bool:
    """Whether a function draws figures, or makes what does."""
    return _DRAWS(name) and not _READS(name)
