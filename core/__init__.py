"""The computing core: data, losses, penalties, models, tuning and export, without Qt."""

from core.old_names import understand_old_names

understand_old_names()
